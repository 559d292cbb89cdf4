/** What the canvas and the panels are given: the reply, as the link wants it shown. */

import { partOf } from '../../api/timelineWindow';
import type {
  Alignment,
  SliceDetail,
  Timeline,
  TimelineFlow,
  TimelineStep,
  TimelineTrack,
} from '../../api/types.gen';
import type { Arrow, Box } from '../../charts/timeline/overlay';
import { stacked } from '../../charts/timeline/palette';
import type { Span } from '../../charts/timeline/span';
import { formatRanges } from '../../lib/ranges';

/** ns to add to the times of each rank: of the alignment, and of the rank's own offset. */
export function shiftsOf(
  data: Pick<Timeline, 'ranks' | 'alignments'>,
  align: string | undefined,
  own: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const alignment = alignmentOf(data, align);
  return new Map(
    data.ranks.map(({ part }) => [
      part,
      Math.round((alignment?.shifts[part] ?? 0) + (own.get(part) ?? 0)),
    ]),
  );
}

export function alignmentOf(
  { alignments }: Pick<Timeline, 'alignments'>,
  align: string | undefined,
): Alignment | undefined {
  return alignments.find((each) => each.id === align) ?? alignments[0];
}

/** From the first event to the last, as they are shown. */
export function wholeOf(data: Timeline, shifts: ReadonlyMap<number, number>): Span {
  const starts = data.ranks.map((rank) => rank.start + (shifts.get(rank.part) ?? 0));
  const ends = data.ranks.map((rank) => rank.end + (shifts.get(rank.part) ?? 0));
  const from = starts.length > 0 ? Math.min(...starts) : data.start;
  const to = ends.length > 0 ? Math.max(...ends) : data.end;
  return [from, Math.max(to, from + 1_000)];
}

/** The steps of one rank, as they are shown. */
export function stepsOf(
  data: Pick<Timeline, 'steps'>,
  part: number,
  shifts: ReadonlyMap<number, number>,
): TimelineStep[] {
  const by = shifts.get(part) ?? 0;
  const own = data.steps.filter((step) => step.part === part);
  return own.map((step) => ({ ...step, start: step.start + by, end: step.end + by }));
}

/** The next or previous step as seen from the left edge of the view. */
export function stepFrom(
  steps: readonly TimelineStep[],
  from: number,
  direction: 1 | -1,
): TimelineStep | undefined {
  // A step shown with air around it begins a little right of the edge.
  const near = (step: TimelineStep) => Math.max(1, (step.end - step.start) * 0.06);
  if (direction > 0) return steps.find((step) => step.start > from + near(step));
  return [...steps].reverse().find((step) => step.start < from - near(step));
}

/** What shows the whole capture in a line: one rank's computing and communication. */
export function overviewOf(tracks: readonly TimelineTrack[]): TimelineTrack[] {
  const part = tracks[0]?.part;
  const own = tracks.filter((track) => track.part === part && track.depths > 0);
  for (const kind of ['overlap', 'hardware', 'python']) {
    const some = own.filter((track) => track.kind === kind);
    const most = [...some].sort((a, b) => b.slices - a.slices);
    if (most.length > 0) return stacked(most.slice(0, kind === 'overlap' ? 4 : 1));
  }
  return own.slice(0, 1);
}

export function boxOf(
  slice: Pick<SliceDetail, 'track' | 'depth' | 'start' | 'duration'>,
  shifts: ReadonlyMap<number, number>,
): Box {
  const start = slice.start + (shifts.get(partOf(slice.track)) ?? 0);
  return { track: slice.track, depth: slice.depth, start, end: start + (slice.duration ?? 0) };
}

/** The arrows of the selected slice: from where it ends or begins to where the other begins. */
export function arrowsOf(slice: SliceDetail, shifts: ReadonlyMap<number, number>): Arrow[] {
  const own = boxOf(slice, shifts);
  return slice.flows.map((flow) => {
    const other = boxOf(flow.to, shifts);
    const here = { track: own.track, depth: own.depth, time: own.start };
    const there = { track: other.track, depth: other.depth, time: other.start };
    return flow.forward
      ? { from: here, to: there, strong: true }
      : { from: there, to: here, strong: true };
  });
}

/** Their times come as they are shown. */
export function allArrows(flows: readonly TimelineFlow[]): Arrow[] {
  return flows.map((flow) => ({
    from: { track: flow.from_track, depth: flow.from_depth, time: flow.start },
    to: { track: flow.to_track, depth: flow.to_depth, time: flow.end },
    strong: false,
  }));
}

/** `tracks=` of a route; nothing where all are meant. */
export function tracksParam(
  left: readonly TimelineTrack[],
  all: readonly TimelineTrack[],
): string | null {
  if (left.length === all.length) return null;
  return formatRanges(left.map((track) => track.id)) || '-';
}

/** An absolute moment, ns as a decimal, after the beginning. */
export function afterBase(at: string | undefined, base: string | null): number | null {
  if (!at || base === null || !/^-?\d+$/.test(at)) return null;
  return Number(BigInt(at) - BigInt(base));
}
