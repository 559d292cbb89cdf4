/** Where a slice is on screen, and what is under the pointer. */

import {
  endOf,
  itemAt,
  type Lane,
  partOf,
  startOf,
  type WindowData,
} from '../../api/timelineWindow';
import type { TimelineTrack } from '../../api/types.gen';
import { stacked } from './palette';
import {
  countersShown,
  type Metrics,
  rowHeight,
  rowOf,
  rowsBetween,
  rowsOf,
  type TrackRow,
} from './rows';
import type { Span } from './span';

export interface Place {
  top: number;
  height: number;
  /** Its track is folded away: this is the line of what it is folded into. */
  folded: boolean;
}

/** Of a depth of a track, from the top of all rows; null where it is hidden. */
export function placeOf(
  rows: readonly TrackRow[],
  metrics: Metrics,
  track: number,
  depth: number,
): Place | null {
  const own = rowOf(rows, track);
  const [shown] = own?.tracks ?? [];
  if (own && shown) {
    const height = rowHeight(shown, own.folded, metrics);
    const top = own.top + Math.floor(metrics.gap / 2) + Math.max(0, depth) * height;
    return { top, height: height > 4 ? height - 1 : height, folded: false };
  }
  const part = partOf(track);
  const group = rows.find(
    (row) => row.folded && row.part === part && row.kind !== 'track' && row.below.includes(track),
  );
  return group ? { top: group.top + 4, height: group.height - 9, folded: true } : null;
}

export interface Hit {
  row: TrackRow;
  track: TimelineTrack | null;
  depth: number;
  /** A slice, or several in one. */
  item: { data: WindowData; index: number } | null;
  counter: { key: number; data: WindowData } | null;
}

interface Field {
  rows: readonly TrackRow[];
  metrics: Metrics;
  span: Span;
  width: number;
  dataOf: (track: number) => WindowData | null;
}

/** How far beside a thin slice the pointer may be, in pixels. */
const REACH = 3;

/** `y` from the top of all rows. */
export function hitAt(field: Field, time: number, y: number): Hit | null {
  const [row] = rowsBetween(field.rows, y, y + 0.01);
  if (!row) return null;
  const empty: Hit = { row, track: null, depth: 0, item: null, counter: null };
  if (row.kind !== 'track') return foldedHit(field, row, time) ?? empty;
  const [track] = row.tracks;
  const data = track ? field.dataOf(track.id) : null;
  if (!track || !data) return { ...empty, track: track ?? null };
  const { metrics } = field;
  const inside = y - row.top - Math.floor(metrics.gap / 2);
  const high = rowHeight(track, row.folded, metrics);
  const depth = Math.floor(inside / high);
  const rows = rowsOf(track);
  const counters = countersShown(track, row.folded);
  if (depth >= rows && counters > 0) {
    const at = Math.floor((inside - rows * high) / metrics.counter);
    const counter = track.counters[Math.min(at, counters - 1)];
    return { ...empty, track, depth, counter: counter ? { key: counter.key, data } : null };
  }
  const lanes = data.lanes.get(track.id) ?? [];
  const instants = depth <= 0 ? lanes.find((each) => each.depth < 0) : undefined;
  const tick = instants ? nearest(data, instants, time, field) : null;
  const lane = lanes.find((each) => each.depth === depth);
  const index = tick ?? (lane ? nearest(data, lane, time, field) : null);
  return { ...empty, track, depth, item: index === null ? null : { data, index } };
}

function foldedHit(field: Field, row: TrackRow, time: number): Hit | null {
  // As they are drawn: the one in front is meant.
  for (const track of stacked(row.tracks).reverse()) {
    const data = field.dataOf(track.id);
    const lane = data?.lanes.get(track.id)?.find((each) => each.depth === 0);
    const index = data && lane ? nearest(data, lane, time, field) : null;
    if (data && index !== null) {
      return { row, track, depth: 0, item: { data, index }, counter: null };
    }
  }
  return null;
}

function nearest(
  data: WindowData,
  lane: Lane,
  time: number,
  { span, width }: Pick<Field, 'span' | 'width'>,
): number | null {
  const pixel = (span[1] - span[0]) / Math.max(1, width);
  const at = itemAt(data, lane, time);
  if (at >= lane.first && time <= endOf(data, at)) return at;
  const before = at >= lane.first ? time - endOf(data, at) : Number.POSITIVE_INFINITY;
  const after = at + 1 < lane.end ? startOf(data, at + 1) - time : Number.POSITIVE_INFINITY;
  if (Math.min(before, after) > REACH * pixel) return null;
  return before <= after ? at : at + 1;
}
