/** The findings that matter most, and the way to all of them. */
import type { Finding, Meta } from '../../api/types.gen';
import { Door } from '../../components/Door';
import { FindingItem } from '../../components/FindingItem';
import { Icon } from '../../components/Icon';
import { t } from '../../i18n';

export function First({ findings, meta }: { findings: readonly Finding[]; meta: Meta }) {
  const words = t.value;
  const all = meta.counts.health ?? findings.length;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{words.overview.first}</h2>
        {all > 0 && <Door view="health">{words.bar.findings(all)}</Door>}
      </header>
      {findings.map((finding) => (
        <FindingItem key={finding.id} finding={finding} brief />
      ))}
      {findings.length === 0 && meta.state !== 'ready' && (
        <p class="quiet">{words.overview.nothingYet}</p>
      )}
      {findings.length === 0 && meta.state === 'ready' && (
        <p class="fine-line">
          <Icon name="check" /> {words.overview.noFindings}
        </p>
      )}
    </section>
  );
}
