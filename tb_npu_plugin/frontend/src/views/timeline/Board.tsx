/** The parts of the page around the tracks. */
import { useState } from 'preact/hooks';
import { GoneError } from '../../api/client';
import type { Timeline } from '../../api/types.gen';
import { longTime } from '../../charts/timeline/ruler';
import type { Span } from '../../charts/timeline/span';
import { Strip } from '../../components/Notice';
import { t } from '../../i18n';
import { formatDuration } from '../../lib/format';
import { elide, visible } from '../../lib/text';
import { noteGone } from '../../state/session';
import { Bar } from './Bar';
import { Canvas } from './Canvas';
import { Details } from './Details';
import { Keys } from './Keys';
import { Legend } from './Legend';
import { Panel } from './Panel';
import { RangePanel } from './RangePanel';
import { type Board as BoardState, useBoard } from './useBoard';
import { useMoment } from './useMoment';

export function Board({ data }: { data: Timeline }) {
  const board = useBoard(data);
  const words = t.value;
  const [boxing, setBoxing] = useState(false);
  const [keys, setKeys] = useState(false);
  const [legend, setLegend] = useState<readonly string[] | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [settled, settle] = useState<{ span: Span; items: number } | null>(null);
  useMoment(board);
  const focusCanvas = () => board.stage.current?.element.focus();
  return (
    <section class="card tl-card" aria-label={words.views.timeline}>
      <Bar board={board} boxing={boxing} setBoxing={setBoxing} onKeys={() => setKeys(true)} />
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      {legend && board.colour !== 'name' && <Legend legend={legend} colour={board.colour} />}
      <Canvas
        board={board}
        boxing={boxing}
        onBoxed={() => setBoxing(false)}
        onSettle={(span, items) => settle({ span, items })}
        onLegend={setLegend}
        onError={(next) => {
          if (next instanceof GoneError) noteGone();
          setError(next instanceof GoneError ? null : next);
        }}
        onKeys={() => setKeys(true)}
      />
      {board.slice ? (
        <Panel
          key="slice"
          label={words.slice.details}
          onEscape={() => {
            board.select(null);
            focusCanvas();
          }}
        >
          <Details board={board} />
        </Panel>
      ) : (
        board.range && (
          <Panel
            key="range"
            label={words.range.title}
            tall
            onEscape={() => {
              board.setRange(null);
              focusCanvas();
            }}
          >
            <RangePanel board={board} range={board.range} />
          </Panel>
        )
      )}
      {keys && (
        <Keys
          onClose={() => {
            setKeys(false);
            focusCanvas();
          }}
        />
      )}
      <p class="sr-only" id="tl-live" aria-live="polite">
        {summary(board, settled)}
      </p>
    </section>
  );
}

/** What is in view and what is selected, for who cannot see it. */
function summary(
  { detail, tree }: BoardState,
  settled: { span: Span; items: number } | null,
): string {
  const words = t.value.timeline;
  const view = settled
    ? [
        words.view(longTime(settled.span[0]), longTime(settled.span[1])),
        words.tracks(tree.left.length),
        words.slices(settled.items),
      ].join(', ')
    : '';
  const selected = detail
    ? words.selected(
        elide(visible(detail.name), 100),
        detail.instant ? t.value.slice.instant : formatDuration(detail.duration),
        visible(detail.where),
      )
    : '';
  return [view, selected].filter(Boolean).join('. ');
}
