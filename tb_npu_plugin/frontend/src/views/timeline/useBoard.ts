/** Everything the parts of the page share: what is shown, and what can be done to it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { partOf, partOfSlice } from '../../api/timelineWindow';
import type {
  FlowsReply,
  SliceDetail,
  SliceRef,
  SliceReply,
  Timeline,
  TimelineStep,
} from '../../api/types.gen';
import type { Arrow, Box, Marker } from '../../charts/timeline/overlay';
import { revealed } from '../../charts/timeline/reveal';
import { type Tree, type TreeState, treeOf } from '../../charts/timeline/rows';
import { revealing, type Span } from '../../charts/timeline/span';
import type { Stage } from '../../charts/timeline/stage';
import { say } from '../../components/Toast';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { navigate, type Patch, params } from '../../state/route';
import { useReply } from '../../state/useReply';
import {
  colourOf,
  formatShifts,
  formatSpan,
  parseMarks,
  parseShifts,
  parseSpan,
  treePatch,
  treeState,
} from './link';
import {
  allArrows,
  arrowsOf,
  boxOf,
  overviewOf,
  shiftsOf,
  stepsOf,
  tracksParam,
  wholeOf,
} from './model';
import { useOtherSelection } from './useOtherSelection';

export interface Board {
  data: Timeline;
  state: TreeState;
  tree: Tree;
  whole: Span;
  shifts: ReadonlyMap<number, number>;
  ownShifts: ReadonlyMap<number, number>;
  steps: readonly TimelineStep[];
  colour: string;
  /** Gaps of the device are marked. */
  idle: boolean;
  toggleIdle: () => void;
  range: Span | null;
  markers: readonly Marker[];
  slice: string | null;
  detail: SliceDetail | null;
  detailError: Error | null;
  selected: Box | null;
  arrows: readonly Arrow[];
  arrowsTotal: number | null;
  arrowsShown: number;
  overview: ReturnType<typeof overviewOf>;
  tracks: string | null;
  stage: { current: Stage | null };
  /** A track that is to be scrolled to once it is there. */
  wanted: { current: { track: number; depth: number } | null };
  change: (next: Partial<TreeState>) => void;
  select: (id: string | null, box?: Box) => void;
  reveal: (slice: SliceRef) => void;
  setRange: (range: Span | null) => void;
  shiftOf: (track: number) => number;
}

export function useBoard(data: Timeline): Board {
  const now = params.value;
  const stage = useRef<Stage | null>(null);
  const wanted = useRef<Board['wanted']['current']>(null);
  const [clicked, setClicked] = useState<{ id: string; box: Box } | null>(null);
  const { fold, pin, hide, move, tracks: filter, dense, align, shift } = now;
  // The parts of the address that the tree stands for
  const state = useMemo(() => treeState(now), [fold, pin, hide, move, filter, dense]);
  const tree = useMemo(() => treeOf(data.ranks, data.tracks, state), [data, state]);
  const ownShifts = useMemo(() => parseShifts(shift), [shift]);
  const shifts = useMemo(() => shiftsOf(data, align, ownShifts), [data, align, ownShifts]);
  const whole = useMemo(() => wholeOf(data, shifts), [data, shifts]);
  const markers = useMemo(() => parseMarks(now.marks), [now.marks]);
  const range = useMemo(() => parseSpan(now.range), [now.range]);
  const overview = useMemo(() => overviewOf(data.tracks), [data]);
  const tracks = useMemo(() => tracksParam(tree.left, data.tracks), [tree, data]);
  const slice = now.slice ?? null;

  const { reply, error } = useReply<SliceReply>(
    slice === null ? null : 'timeline/slice',
    {
      ...selectionQuery(),
      id: slice,
    },
    true,
  );
  const detail = reply && reply.data.id === slice ? reply.data : null;
  const selected = useMemo(() => {
    if (detail) return boxOf(detail, shifts);
    return clicked && clicked.id === slice ? clicked.box : null;
  }, [detail, clicked, slice, shifts]);

  const flows = useFlows(now.arrows === '1', tracks, now.w, whole, shifts);
  useOtherSelection(data.base_ns);
  const arrows = useMemo(
    () => [...allArrows(flows?.flows ?? []), ...(detail ? arrowsOf(detail, shifts) : [])],
    [flows, detail, shifts],
  );
  const part = slice ? partOfSlice(slice) : (data.ranks[0]?.part ?? 0);
  const steps = useMemo(() => stepsOf(data, part, shifts), [data, part, shifts]);

  const shiftOf = (track: number) => shifts.get(partOf(track)) ?? 0;
  // Rows of a trace that is still being read get other numbers: no link can name one.
  const isNumbered = (id: string) =>
    !data.tracks.some((track) => track.unread && track.part === partOfSlice(id));
  const select = (id: string | null, box?: Box) => {
    if (id && !isNumbered(id)) return say(t.value.timeline.stillReading);
    if (id && box) setClicked({ id, box });
    navigate({ slice: id }, 'replace');
  };
  const reveal = (to: SliceRef) => {
    const box = boxOf(to, shifts);
    const next = revealed(state, data.ranks, data.tracks, to.track, to.depth);
    wanted.current = { track: to.track, depth: to.depth };
    const id = isNumbered(to.id) ? to.id : null;
    if (id) setClicked({ id, box });
    navigate({ ...(next === state ? {} : treePatch(next)), slice: id }, 'replace');
    const { current } = stage;
    if (!current) return;
    const target = revealing(
      current.motion.goal(current.span),
      [box.start, box.end],
      whole,
      current.width,
    );
    current.show(target);
  };
  return {
    data,
    state,
    tree,
    whole,
    shifts,
    ownShifts,
    steps,
    colour: colourOf(now, data.colours),
    idle: now.idle !== '0',
    toggleIdle: () => navigate({ idle: now.idle === '0' ? null : '0' }, 'replace'),
    range,
    markers,
    slice,
    detail,
    detailError: error,
    selected,
    arrows,
    arrowsTotal: flows?.total ?? null,
    arrowsShown: flows?.flows.length ?? 0,
    overview,
    tracks,
    stage,
    wanted,
    change: (next) => navigate(treePatch({ ...state, ...next }), 'replace'),
    select,
    reveal,
    setRange: (next) => {
      // The first look at a range is by name: what took its time.
      const first =
        next && !range ? { group: 'name', sort: null, columns: null, offset: null } : {};
      navigate({ range: next && formatSpan(next), ...first }, 'replace');
    },
    shiftOf,
  };
}

/** Arrows of what is on screen, where they are asked for. */
function useFlows(
  on: boolean,
  tracks: string | null,
  w: string | undefined,
  whole: Span,
  shifts: ReadonlyMap<number, number>,
) {
  const [from, to] = parseSpan(w) ?? whole;
  const { reply } = useReply<FlowsReply>(
    on ? 'timeline/flows' : null,
    {
      ...selectionQuery(),
      tracks,
      from: Math.round(from),
      to: Math.round(to),
      shift: formatShifts(shifts),
      limit: 500,
    },
    true,
  );
  return on ? (reply?.data ?? null) : null;
}

/** What of the link a window's answer depends on. */
export function windowQuery({ shifts, colour }: Board): Patch & Record<string, string> {
  const { find } = params.value;
  const shift = formatShifts(shifts);
  return {
    colour,
    ...(find ? { find } : {}),
    ...(shift ? { shift } : {}),
  };
}

/** The address follows the view, and the view an address that somebody else changed. */
export function useSpanInLink(board: Board): (span: Span) => void {
  const written = useRef<string | undefined>(params.peek().w);
  const { w } = params.value;
  const { stage, whole } = board;
  const all = useRef<Span | null>(null);
  useEffect(() => {
    if (!stage.current) return;
    const other = whole !== all.current;
    all.current = whole;
    // Without a span all is shown, also when there comes more; the address alone moves nothing.
    if (w === undefined && written.current === undefined) {
      if (other) stage.current.put(whole);
    } else if (w !== written.current) stage.current.show(parseSpan(w) ?? whole);
    written.current = w;
  }, [w, whole]);
  return (span) => {
    const isAll = formatSpan(span) === formatSpan(whole);
    written.current = isAll ? undefined : formatSpan(span);
    navigate({ w: written.current ?? null }, 'replace');
  };
}
