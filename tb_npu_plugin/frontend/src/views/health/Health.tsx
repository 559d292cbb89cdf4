/** Everything that is missing, broken or suspicious, worst first, and what to do about it. */
import { useState } from 'preact/hooks';
import type { Finding, HealthReply } from '../../api/types.gen';
import { FindingItem } from '../../components/FindingItem';
import { Notice } from '../../components/Notice';
import { LEVELS, type Level, Severity } from '../../components/Severity';
import { ViewStatus } from '../../components/ViewStatus';
import { Waiting } from '../../components/Waiting';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { useReply } from '../../state/useReply';
import { Capabilities } from './Capabilities';

const PLURAL = { error: 'errors', warning: 'warnings', info: 'infos' } as const;

export function Health() {
  const { reply, error, stale } = useReply<HealthReply>('health', selectionQuery());
  const words = t.value.health;
  if (!reply) return <Waiting error={error} />;
  const { findings, capabilities } = reply.data;
  return (
    <div class={`health${stale ? ' refreshing' : ''}`}>
      <ViewStatus meta={reply.meta} listed />
      {findings.length === 0 && reply.meta.state !== 'ready' && (
        <Notice title={t.value.overview.nothingYet} />
      )}
      {findings.length === 0 && reply.meta.state === 'ready' && (
        <Notice icon="check" tone="fine" title={words.fine} hint={words.fineHint} />
      )}
      {LEVELS.map((level) => {
        const own = findings.filter((finding) => finding.severity === level);
        return own.length > 0 && <Group key={level} level={level} findings={own} />;
      })}
      <Capabilities parts={capabilities} />
    </div>
  );
}

function Group({ level, findings }: { level: Level; findings: readonly Finding[] }) {
  const codes = [...new Set(findings.map((finding) => finding.code))];
  return (
    <section class="card">
      <header class="card-head">
        <h2>
          <Severity level={level} /> {t.value.health[PLURAL[level]]}{' '}
          <span class="quiet">{findings.length}</span>
        </h2>
      </header>
      {codes.map((code) => (
        <Kind key={code} findings={findings.filter((finding) => finding.code === code)} />
      ))}
    </section>
  );
}

const SHOWN = 3;

/** A job of a thousand ranks says the same thing a thousand times: a few stand for all. */
function Kind({ findings }: { findings: readonly Finding[] }) {
  const [all, setAll] = useState(false);
  const words = t.value.health;
  const hidden = findings.length > SHOWN + 1 ? findings.length - SHOWN : 0;
  const shown = all || hidden === 0 ? findings : findings.slice(0, SHOWN);
  return (
    <>
      {shown.map((finding) => (
        <FindingItem key={finding.id} finding={finding} />
      ))}
      {hidden > 0 && (
        <button type="button" class="link more" onClick={() => setAll(!all)}>
          {all ? words.fewer : words.alike(hidden)}
        </button>
      )}
    </>
  );
}
