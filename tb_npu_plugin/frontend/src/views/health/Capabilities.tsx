/** What every view can show of the selected captures, and the setting that fills what is not there. */
import type { Capability, CapabilityCase } from '../../api/types.gen';
import { CopyButton } from '../../components/CopyButton';
import { Door } from '../../components/Door';
import { Icon } from '../../components/Icon';
import { LongText } from '../../components/Text';
import { t } from '../../i18n';
import { formatRanges } from '../../lib/ranges';
import { isKnownView } from '../../state/known';

const ICONS = {
  available: 'check',
  partial: 'warning',
  missing: 'close',
  reading: 'down',
  none: 'check',
} as const;

export function Capabilities({ parts }: { parts: readonly Capability[] }) {
  const words = t.value.health;
  if (parts.length === 0) return null;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{words.capabilities}</h2>
      </header>
      <ul class="capabilities">
        {parts.map((part) => (
          <Part key={part.key} part={part} />
        ))}
      </ul>
    </section>
  );
}

function Part({ part }: { part: Capability }) {
  const told = part.cases.filter((each) => each.reason);
  return (
    <li class={`capability is-${part.status}`}>
      <Icon name={ICONS[part.status]} />
      <span class="capability-name">
        {isKnownView(part.view) ? (
          <Door view={part.view} patch={{}}>
            {part.label}
          </Door>
        ) : (
          part.label
        )}
      </span>
      <span class="capability-status">{t.value.health[part.status]}</span>
      <div class="finding-body">
        {told.map((each) => (
          <Case key={each.where + each.reason} own={each} alone={part.cases.length === 1} />
        ))}
      </div>
    </li>
  );
}

function Case({ own, alone }: { own: CapabilityCase; alone: boolean }) {
  const ranks = own.ranks.filter((rank): rank is number => rank !== null);
  return (
    <>
      <p class="finding-message">
        {!alone && ranks.length > 0 && (
          <span class="quiet">
            {t.value.bar.rank} {formatRanges(ranks, ', ', '–')}:{' '}
          </span>
        )}
        <LongText text={own.reason} />
      </p>
      {own.remedy && (
        <p class="finding-remedy">
          <LongText text={own.remedy} />
          <CopyButton text={own.remedy} class="icon-button" title={t.value.copy} />
        </p>
      )}
    </>
  );
}
