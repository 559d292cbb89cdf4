/** What the reader must know before reading: still being read, partial, a selection that does nothing. */
import type { Finding, Meta } from '../api/types.gen';
import { t } from '../i18n';
import { formatRatio } from '../lib/format';
import { visible } from '../lib/text';
import { params } from '../state/route';
import { progress } from '../state/session';
import { Door } from './Door';
import { Strip } from './Notice';
import { LEVELS, Severity } from './Severity';

interface Props {
  meta: Meta;
  /** The page lists the findings itself. */
  listed?: boolean;
}

export function ViewStatus({ meta, listed = false }: Props) {
  const words = t.value.state;
  const { state } = meta;
  const jobs = progress.value?.jobs ?? [];
  const reading = jobs
    .map((job) => visible(`${job.label} ${job.file} ${formatRatio(job.progress)}`))
    .slice(0, 3);
  const stepIgnored = meta.step_picker && params.value.step && params.value.step !== 'all';
  return (
    <>
      {(state === 'partial' || state === 'ingesting') && (
        <Strip
          title={`${state === 'partial' ? words.partial : words.readingNow}, ${formatRatio(meta.progress)}.`}
          hint={[words.partialHint, reading.join(' · ')].join(' ')}
        />
      )}
      {state === 'growing' && <Strip title={words.growing} hint={words.growingHint} />}
      {!listed && <Touching findings={meta.findings} />}
      {stepIgnored && <Strip title={meta.step_picker ?? ''} />}
    </>
  );
}

/** The worst of what touches this view, and the way to the rest. */
function Touching({ findings }: { findings: readonly Finding[] }) {
  const [first] = [...findings].sort(
    (a, b) => LEVELS.indexOf(a.severity) - LEVELS.indexOf(b.severity),
  );
  if (!first || first.severity === 'info') return null;
  return (
    <div class="strip">
      <Severity level={first.severity} />
      <span class="strip-text">
        <b>{visible(first.message)}</b> <span class="quiet">{visible(first.remedy)}</span>
      </span>
      <Door view="health">{t.value.bar.findings(findings.length)}</Door>
    </div>
  );
}
