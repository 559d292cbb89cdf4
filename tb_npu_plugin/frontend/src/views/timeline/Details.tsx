/** The selected slice: what it is, what stands around it, and where it leads. */
import type { ComponentChildren } from 'preact';
import { ApiError } from '../../api/client';
import type { SliceDetail, SliceRef } from '../../api/types.gen';
import { clockMoment, longTime } from '../../charts/timeline/ruler';
import { CopyButton } from '../../components/CopyButton';
import { Door } from '../../components/Door';
import { Failure } from '../../components/Failure';
import { Notice } from '../../components/Notice';
import { Skeleton } from '../../components/Skeleton';
import { LongText } from '../../components/Text';
import { t } from '../../i18n';
import { exact, formatDuration, formatInt, formatRatio } from '../../lib/format';
import { elide, visible } from '../../lib/text';
import { isKnownView } from '../../state/known';
import { navigate } from '../../state/route';
import { PanelHead } from './Panel';
import type { Board } from './useBoard';
import { fit } from './useKeys';

/** The recording is there, and the slice is not. */
function Missing({ error }: { error: Error }) {
  const words = t.value.timeline;
  const code = error instanceof ApiError ? error.body.code : '';
  if (code === 'still-reading') {
    return <Notice title={words.stillReading} hint={words.stillReadingHint} />;
  }
  if (code === 'no-such-slice') return <Notice title={words.noSlice} hint={words.noSliceHint} />;
  return <Failure error={error} />;
}

export function Details({ board }: { board: Board }) {
  const { detail, detailError } = board;
  const words = t.value.slice;
  const close = () => board.select(null);
  if (!detail) {
    return (
      <>
        <PanelHead title={words.details} onClose={close} />
        {detailError ? <Missing error={detailError} /> : <Skeleton rows={4} head={false} />}
      </>
    );
  }
  return (
    <>
      <PanelHead title={<bdi>{elide(visible(detail.name), 160)}</bdi>} onClose={close}>
        <CopyButton class="icon-button" text={detail.name} />
        <button type="button" class="link" onClick={() => fit(board)}>
          {words.fit}
        </button>
        <button
          type="button"
          class="link"
          onClick={() => navigate({ find: detail.name }, 'replace')}
        >
          {words.find}
        </button>
      </PanelHead>
      <div class="tl-details">
        <Figures board={board} detail={detail} />
        <Around board={board} detail={detail} />
        <Facts detail={detail} />
      </div>
    </>
  );
}

function Line({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Figures({ board, detail }: { board: Board; detail: SliceDetail }) {
  const words = t.value.slice;
  const { siblings, gap, duration } = detail;
  const base = board.data.base_ns;
  const gapText = gap.before === null ? words.noneBefore : formatDuration(gap.before);
  return (
    <dl class="tl-facts">
      <Line label={words.duration}>
        <b>{detail.instant ? words.instant : formatDuration(duration)}</b>
        {duration !== null && <span class="quiet"> {exact(duration, 'ns')}</span>}
      </Line>
      {detail.self !== null && detail.self !== duration && (
        <Line label={words.self}>
          {formatDuration(detail.self)}
          {duration ? <span class="quiet"> {formatRatio(detail.self / duration)}</span> : null}
        </Line>
      )}
      <Line label={words.start}>
        <span title={base === null ? '' : clockMoment(base, detail.start)}>
          {longTime(detail.start)}
        </span>
      </Line>
      <Line label={words.track}>{visible(detail.where)}</Line>
      <Line label={words.step}>{detail.step === null ? words.outside : detail.step}</Line>
      {detail.category && <Line label={words.category}>{visible(detail.category)}</Line>}
      <Line label={words.gap}>
        {gapText}
        {gap.behind && <span class="quiet"> {visible(gap.behind)}</span>}
      </Line>
      {siblings.count > 1 && (
        <Line label={words.sameName}>
          {words.place(siblings.rank, siblings.count)}
          <span class="tl-stats quiet">
            {words.total} {formatDuration(siblings.total)} · {words.mean}{' '}
            {formatDuration(siblings.mean)} · {words.least} {formatDuration(siblings.least)} ·{' '}
            {words.most} {formatDuration(siblings.most)}
          </span>
        </Line>
      )}
    </dl>
  );
}

function Around({ board, detail }: { board: Board; detail: SliceDetail }) {
  const words = t.value.slice;
  const jumps: [string, SliceRef | null][] = [
    [words.parent, detail.parent],
    [words.samePrevious, detail.same_previous],
    [words.sameNext, detail.same_next],
  ];
  const views = t.value.views as Record<string, string>;
  const doors = detail.doors.filter((door) => isKnownView(door.view));
  return (
    <dl class="tl-facts">
      {jumps.map(
        ([label, to]) =>
          to && (
            <Line key={label} label={label}>
              <Jump board={board} to={to} />
            </Line>
          ),
      )}
      {detail.flows.length > 0 && (
        <Line label={`${words.arrows} (${formatInt(detail.flows_total)})`}>
          <ul class="tl-flows">
            {detail.flows.slice(0, 20).map((flow, at) => (
              <li key={at}>
                <span class="quiet">
                  {flow.forward ? words.leads : words.comes}{' '}
                  {flow.kind && `(${visible(flow.kind)})`}
                </span>{' '}
                <Jump board={board} to={flow.to} where />
              </li>
            ))}
          </ul>
        </Line>
      )}
      {doors.length > 0 && (
        <Line label={words.elsewhere}>
          {doors.map((door) => (
            <Door
              key={door.view + door.filter}
              view={door.view}
              patch={{
                filter: door.filter,
                ...(detail.rank === null ? {} : { rank: String(detail.rank) }),
              }}
            >
              {door.label || views[door.view]}{' '}
            </Door>
          ))}
        </Line>
      )}
    </dl>
  );
}

function Jump({ board, to, where = false }: { board: Board; to: SliceRef; where?: boolean }) {
  return (
    <>
      <button type="button" class="link" title={visible(to.where)} onClick={() => board.reveal(to)}>
        <bdi>{elide(visible(to.name), 48)}</bdi>
      </button>{' '}
      <span class="quiet">
        {formatDuration(to.duration)}
        {where && ` · ${visible(to.where)}`}
      </span>
    </>
  );
}

function Facts({ detail }: { detail: SliceDetail }) {
  const words = t.value.slice;
  const { facts, stack } = detail;
  if (facts.length === 0 && stack.length === 0) return null;
  return (
    <div>
      {facts.length > 0 && (
        <dl class="tl-facts">
          {facts.map((fact, at) => (
            <Line key={at} label={visible(fact.label)}>
              <LongText text={fact.value} />
            </Line>
          ))}
        </dl>
      )}
      {stack.length > 0 && (
        <>
          <h3>{words.stack}</h3>
          <ol class="tl-stack">
            {stack.map((frame, at) => (
              <li key={at}>
                <code>{visible(frame)}</code>
              </li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
}
