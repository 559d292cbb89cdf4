/** Where an operator was called from, the stacks with most device time first, a line per frame. */
import type { OperatorReply } from '../../api/types.gen';
import { CopyButton } from '../../components/CopyButton';
import { Door } from '../../components/Door';
import { Skeleton } from '../../components/Skeleton';
import { inQuotes } from '../../components/table/filter';
import { t } from '../../i18n';
import { formatDuration, type Num } from '../../lib/format';
import { visible } from '../../lib/text';
import { selectionQuery } from '../../state/query';
import { useReply } from '../../state/useReply';

const SHOWN = 5;

export function CallStacks({ name }: { name: string }) {
  const words = t.value.operator;
  const filter = `name=${inQuotes(name)}`;
  const query = { ...selectionQuery(), group: 'stack', filter, limit: SHOWN };
  const { reply, error } = useReply<OperatorReply>('operator', query);
  if (error) return <p class="quiet">{error.message}</p>;
  if (!reply) return <Skeleton rows={4} head={false} />;
  const { values, total } = reply.data.table;
  const stacks = (values.stack ?? []).flatMap((stack, at) =>
    typeof stack === 'string' && stack !== ''
      ? [{ stack, calls: values.count?.[at] as Num, device: values.device_self_ns?.[at] as Num }]
      : [],
  );
  return (
    <section class="stacks" aria-label={words.stacks}>
      <h4>{words.stacks}</h4>
      {stacks.length === 0 && <p class="quiet">{words.noStacks}</p>}
      {stacks.map(({ stack, calls, device }, at) => (
        <div key={at} class="stack">
          <p class="stack-head">
            <span>{words.calls(calls ?? 0)}</span>
            <span class="quiet">
              {words.device} {formatDuration(device)}
            </span>
            <CopyButton class="icon-button" title={t.value.copy} text={stack} />
          </p>
          <Frames stack={stack} />
        </div>
      ))}
      {total > SHOWN && (
        <Door view="operator" patch={{ group: 'stack', filter }}>
          {words.allStacks(total)}
        </Door>
      )}
    </section>
  );
}

/** Innermost first, as in the file. */
function Frames({ stack }: { stack: string }) {
  return (
    <ol class="frames">
      {stack
        .split(/\r?\n/)
        .map((frame) => frame.trim())
        .filter(Boolean)
        .map((frame, at) => (
          <li key={at}>
            <code>
              <bdi>{visible(frame)}</bdi>
            </code>
          </li>
        ))}
    </ol>
  );
}
