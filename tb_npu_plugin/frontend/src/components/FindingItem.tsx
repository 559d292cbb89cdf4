/** One finding: what happened, what to do about it, where, and the doors to the views it touches. */
import type { Finding } from '../api/types.gen';
import { t } from '../i18n';
import { formatRanges } from '../lib/ranges';
import { isKnownView } from '../state/known';
import { view } from '../state/route';
import { CopyButton } from './CopyButton';
import { Door } from './Door';
import { Severity } from './Severity';
import { LongText } from './Text';

interface Props {
  finding: Finding;
  brief?: boolean;
}

export function FindingItem({ finding, brief = false }: Props) {
  const words = t.value;
  const views = finding.views.filter((each) => each !== 'health' && each !== view.value);
  return (
    <article class={`finding${brief ? ' finding-brief' : ''}`}>
      <Severity level={finding.severity} />
      <div class="finding-body">
        <p class="finding-message">
          <LongText text={finding.message} />
        </p>
        {finding.remedy && (
          <p class="finding-remedy">
            <LongText text={finding.remedy} />
            {!brief && <CopyButton text={finding.remedy} class="icon-button" title={words.copy} />}
          </p>
        )}
        {!brief && <Place finding={finding} />}
      </div>
      <div class="finding-doors">
        {views.map((id) => {
          const name = words.views[id as keyof typeof words.views] ?? id;
          return isKnownView(id) ? (
            <Door key={id} view={id} patch={rankPatch(finding)}>
              {name}
            </Door>
          ) : (
            <span key={id} class="quiet">
              {name}
            </span>
          );
        })}
      </div>
    </article>
  );
}

/** The ranks that the finding is about, as far as they are known. */
function numbers(finding: Finding): number[] {
  return finding.ranks.filter((rank): rank is number => rank !== null);
}

function rankPatch(finding: Finding) {
  const ranks = numbers(finding);
  return ranks.length === 0 ? {} : { rank: formatRanges(ranks) };
}

function Place({ finding }: { finding: Finding }) {
  const ranks = numbers(finding);
  const where = [finding.file, finding.place].filter(Boolean).join(' · ');
  return (
    <p class="finding-place">
      {ranks.length > 0 && (
        <span>
          {t.value.bar.rank} {formatRanges(ranks, ', ', '–')}
        </span>
      )}
      {where && (
        <code>
          <LongText text={where} />
        </code>
      )}
      <code class="quiet">{finding.code}</code>
    </p>
  );
}
