/** What the keys do while the canvas has the focus. */
import { useRef } from 'preact/hooks';
import { itemAt, sliceId, startOf } from '../../api/timelineWindow';
import { HEAD } from '../../charts/timeline/head';
import { actOf, type Command } from '../../charts/timeline/keys';
import { rowsBetween } from '../../charts/timeline/rows';
import { longTime } from '../../charts/timeline/ruler';
import { around } from '../../charts/timeline/span';
import { say } from '../../components/Toast';
import { t } from '../../i18n';
import { navigate } from '../../state/route';
import { formatMarks } from './link';
import { stepFrom } from './model';
import type { Board } from './useBoard';

interface Ref<E> {
  current: E | null;
}

export function useKeys(
  board: Board,
  canvas: Ref<HTMLCanvasElement>,
  scroller: Ref<HTMLDivElement>,
  onKeys: () => void,
) {
  const held = useRef(board);
  held.current = board;
  const run = (command: Command) => {
    const now = held.current;
    const root = canvas.current?.closest('.timeline-view');
    const page = (scroller.current?.clientHeight ?? 0) - (now.stage.current?.top ?? HEAD) - 20;
    const acts: Record<Command, () => void> = {
      fit: () => fit(now),
      whole: () => now.stage.current?.show(now.whole),
      undo: () => now.stage.current?.undo(),
      nextStep: () => toStep(now, 1),
      previousStep: () => toStep(now, -1),
      keys: onKeys,
      selectNext: () => (now.detail?.next ? now.reveal(now.detail.next) : selectFirst(now)),
      selectPrevious: () =>
        now.detail?.previous ? now.reveal(now.detail.previous) : selectFirst(now),
      selectParent: () => now.detail?.parent && now.reveal(now.detail.parent),
      selectChild: () => selectChild(now),
      details: () => root?.querySelector<HTMLElement>('.tl-panel')?.focus(),
      clear: () => (now.slice ? now.select(null) : now.setRange(null)),
      search: () => root?.querySelector<HTMLElement>('.tl-search input')?.focus(),
      marker: () => mark(now),
      gaps: () => now.toggleIdle(),
      range: () => now.selected && now.setRange([now.selected.start, now.selected.end]),
      pageDown: () => scroller.current?.scrollBy({ top: page }),
      pageUp: () => scroller.current?.scrollBy({ top: -page }),
    };
    acts[command]();
  };
  return {
    run,
    down: (event: KeyboardEvent) => {
      const act = actOf(event);
      const { current: stage } = board.stage;
      if (!act || !stage) return;
      event.preventDefault();
      event.stopPropagation();
      if ('command' in act) {
        run(act.command);
        return;
      }
      if (!event.repeat) stage.remember();
      stage.motion.press(act.drive, performance.now());
      stage.draw();
    },
    up: (event: KeyboardEvent) => {
      const act = actOf(event);
      if (act && 'drive' in act) board.stage.current?.motion.release(act.drive, performance.now());
    },
    blur: () => board.stage.current?.motion.releaseAll(),
  };
}

/** The selected range, or slice, or all. */
export function fit({ stage, range, selected, whole }: Board): void {
  const target = selected ? ([selected.start, selected.end] as const) : range;
  stage.current?.show(target ? around(target, whole) : whole);
}

export function toStep({ stage, steps, whole }: Board, direction: 1 | -1): void {
  const { current } = stage;
  if (!current) return;
  const from = current.motion.goal(current.span)[0];
  const step = stepFrom(steps, from, direction);
  if (step) current.show(around([step.start, step.end], whole, 0.03));
}

export function mark({ stage, selected, markers }: Board, time?: number): void {
  const { current } = stage;
  if (!current) return;
  const middle = (current.span[0] + current.span[1]) / 2;
  const at = Math.round(time ?? current.pointer ?? selected?.start ?? middle);
  navigate({ marks: formatMarks([...markers, { time: at, note: '' }]) }, 'replace');
  say(t.value.timeline.marked(longTime(at)));
}

/** Nothing is selected: begin with what is nearest to the middle of the uppermost row on screen. */
function selectFirst({ stage, tree, select, slice }: Board): void {
  const { current } = stage;
  if (!current || slice) return;
  const middle = (current.span[0] + current.span[1]) / 2;
  const rows = rowsBetween(
    tree.rows,
    current.scroll,
    current.scroll + current.height - current.top,
  );
  const whole = rows.filter((row) => row.top >= current.scroll);
  for (const track of whole.flatMap((row) => row.tracks)) {
    const data = current.dataOf(track.id);
    const lane = data?.lanes.get(track.id)?.find((each) => each.depth === 0);
    if (!data || !lane || lane.end === lane.first) continue;
    const index = Math.max(lane.first, itemAt(data, lane, middle));
    const start = startOf(data, index);
    const end = start + (data.length[index] as number) * data.tick;
    select(sliceId(data, track.id, index), { track: track.id, depth: 0, start, end });
    return;
  }
}

/** The first slice inside the selected one, of what is drawn. */
function selectChild({ stage, selected, select }: Board): void {
  const { current } = stage;
  if (!current || !selected) return;
  const data = current.dataOf(selected.track);
  const depth = selected.depth + 1;
  const lane = data?.lanes.get(selected.track)?.find((each) => each.depth === depth);
  if (!data || !lane) return;
  let index = Math.max(lane.first, itemAt(data, lane, selected.start));
  if (startOf(data, index) < selected.start - data.tick) index++;
  if (index >= lane.end || startOf(data, index) >= selected.end) return;
  const start = startOf(data, index);
  const end = start + (data.length[index] as number) * data.tick;
  select(sliceId(data, selected.track, index), { track: selected.track, depth, start, end });
}
