/** The tree of tracks as rows from the top down: what is folded, hidden, pinned and moved. */
import type { TimelineRank, TimelineTrack } from '../../api/types.gen';

/** How the tree stands; all of it is in the link. */
export interface TreeState {
  /** Keys of groups and tracks that are folded, where they would be open, or the other way round. */
  toggled: ReadonlySet<string>;
  pinned: readonly number[];
  hidden: ReadonlySet<number>;
  /** Moved before another track of their process, in the order it was done. */
  moves: readonly (readonly [track: number, before: number])[];
  filter: string;
  dense: boolean;
}

export type RowKind = 'rank' | 'process' | 'track';

export interface TrackRow {
  key: string;
  kind: RowKind;
  part: number;
  label: string;
  /** How far it is set in. */
  level: number;
  top: number;
  height: number;
  folded: boolean;
  /** Its own tracks: one, or those that a folded group shows in a line. */
  tracks: readonly TimelineTrack[];
  /** All tracks below it. */
  below: readonly number[];
  pinned: boolean;
}

export interface Tree {
  rows: readonly TrackRow[];
  height: number;
  /** Once more, above the others. */
  pins: readonly TrackRow[];
  pinsHeight: number;
  /** Tracks that the filter and hiding leave, shown or folded away. */
  left: readonly TimelineTrack[];
  hidden: number;
}

export interface Metrics {
  depth: number;
  head: number;
  counter: number;
  gap: number;
}

export const NORMAL: Metrics = { depth: 17, head: 24, counter: 34, gap: 5 };
export const DENSE: Metrics = { depth: 11, head: 20, counter: 22, gap: 3 };
export const metricsOf = (dense: boolean) => (dense ? DENSE : NORMAL);

/** A line of a folded group shows no more than these: they are drawn over each other. */
const PREVIEWED = 4;
/** Tracks deeper than this begin folded: call stacks would fill the screen. */
export const DEEP = 12;
/** More ranks than this begin folded. */
export const OPEN_RANKS = 2;
/** Best first: what tells most of a rank in one line. */
const TELLING = ['overlap', 'hardware', 'communication', 'runtime', 'cann', 'python'];

export const rankKey = (part: number) => `r${part}`;
export const trackKey = (id: number) => `t${id}`;
export const processKey = (first: number) => `p${first}`;

export function treeOf(
  ranks: readonly TimelineRank[],
  tracks: readonly TimelineTrack[],
  state: TreeState,
): Tree {
  const left = tracks.filter(
    (track) => !state.hidden.has(track.id) && matches(track, ranks, state),
  );
  const rows: TrackRow[] = [];
  const metrics = metricsOf(state.dense);
  const pins = state.pinned
    .flatMap((id) => tracks.filter((track) => track.id === id))
    .map((track) => trackRow(track, state, metrics, ranks, true));
  const groups = byPart(ranks, left);
  for (const { rank, own } of groups) {
    const several = ranks.length > 1;
    const folded = several && isFolded(rankKey(rank.part), ranks.length > OPEN_RANKS, state);
    if (several) {
      rows.push(group('rank', rankKey(rank.part), rank.label, 0, own, folded, metrics));
    }
    if (!folded) rows.push(...processRows(own, several ? 1 : 0, state, metrics, ranks));
  }
  return {
    rows,
    height: stack(rows),
    pins,
    pinsHeight: stack(pins),
    left,
    hidden: tracks.filter((each) => state.hidden.has(each.id)).length,
  };
}

/** One below another; returns how high they are. */
function stack(rows: readonly TrackRow[]): number {
  let top = 0;
  for (const row of rows) {
    row.top = top;
    top += row.height;
  }
  return top;
}

function processRows(
  own: readonly TimelineTrack[],
  level: number,
  state: TreeState,
  metrics: Metrics,
  ranks: readonly TimelineRank[],
): TrackRow[] {
  const rows: TrackRow[] = [];
  for (const tracks of processesOf(own)) {
    const [first] = tracks;
    if (!first) continue;
    const key = processKey(first.id);
    const folded = isFolded(key, false, state);
    rows.push(group('process', key, first.process, level, tracks, folded, metrics));
    if (folded) continue;
    for (const track of ordered(tracks, state.moves)) {
      rows.push({ ...trackRow(track, state, metrics, ranks, false), level: level + 1 });
    }
  }
  return rows;
}

/** A filter opens what it finds: what is folded away cannot be seen to match. */
export function isFolded(key: string, byDefault: boolean, state: TreeState): boolean {
  if (!key.startsWith('t') && state.filter.trim() !== '')
    return state.toggled.has(key) && !byDefault;
  return state.toggled.has(key) !== byDefault;
}

function group(
  kind: 'rank' | 'process',
  key: string,
  label: string,
  level: number,
  own: readonly TimelineTrack[],
  folded: boolean,
  metrics: Metrics,
): TrackRow {
  return {
    key,
    kind,
    part: own[0]?.part ?? 0,
    label,
    level,
    top: 0,
    height: metrics.head,
    folded,
    tracks: folded ? preview(own) : [],
    below: own.map((track) => track.id),
    pinned: false,
  };
}

function trackRow(
  track: TimelineTrack,
  state: TreeState,
  metrics: Metrics,
  ranks: readonly TimelineRank[],
  pinned: boolean,
): TrackRow {
  const key = trackKey(track.id);
  const folded = isFolded(key, track.depths > DEEP, state);
  const rank = ranks.length > 1 ? ranks.find((each) => each.part === track.part) : undefined;
  return {
    key: pinned ? `n${track.id}` : key,
    kind: 'track',
    part: track.part,
    label: pinned
      ? [rank?.label, track.label, track.process].filter(Boolean).join(' · ')
      : track.label,
    level: 0,
    top: 0,
    height: heightOf(track, folded, metrics),
    folded,
    tracks: [track],
    below: [track.id],
    pinned,
  };
}

export const rowsOf = (track: TimelineTrack) => Math.max(track.depths, track.instants ? 1 : 0);

/** Of a depth: folded, all of them lie in little more than a line. */
export function rowHeight(track: TimelineTrack, folded: boolean, metrics: Metrics): number {
  if (!folded) return metrics.depth;
  const squashed = Math.floor((metrics.depth * 1.5) / Math.max(1, rowsOf(track)));
  return Math.max(2, Math.min(metrics.depth, squashed));
}

/** Of its counters a folded track shows the first, where it has nothing else. */
export function countersShown(track: TimelineTrack, folded: boolean): number {
  if (!folded) return track.counters.length;
  return rowsOf(track) > 0 ? 0 : Math.min(1, track.counters.length);
}

function heightOf(track: TimelineTrack, folded: boolean, metrics: Metrics): number {
  const slices = rowsOf(track) * rowHeight(track, folded, metrics);
  const counters = countersShown(track, folded) * metrics.counter;
  return Math.max(slices + counters, metrics.depth) + metrics.gap;
}

function preview(own: readonly TimelineTrack[]): TimelineTrack[] {
  const some = own.filter((track) => track.depths > 0);
  const kind = TELLING.find((each) => some.some((track) => track.kind === each));
  const told = kind ? some.filter((track) => track.kind === kind) : some;
  return [...told].sort((a, b) => b.slices - a.slices).slice(0, PREVIEWED);
}

function byPart(ranks: readonly TimelineRank[], tracks: readonly TimelineTrack[]) {
  const parts = new Map<number, TimelineTrack[]>();
  for (const track of tracks) {
    const own = parts.get(track.part);
    if (own) own.push(track);
    else parts.set(track.part, [track]);
  }
  return ranks.flatMap((rank) => {
    const own = parts.get(rank.part);
    return own ? [{ rank, own }] : [];
  });
}

/** Consecutive tracks that share a heading. */
export function processesOf(tracks: readonly TimelineTrack[]): TimelineTrack[][] {
  const found: TimelineTrack[][] = [];
  for (const track of tracks) {
    const last = found[found.length - 1];
    if (last && last[0]?.process === track.process) last.push(track);
    else found.push([track]);
  }
  return found;
}

export function ordered(
  tracks: readonly TimelineTrack[],
  moves: TreeState['moves'],
): readonly TimelineTrack[] {
  const list = [...tracks];
  for (const [moved, before] of moves) {
    const from = list.findIndex((track) => track.id === moved);
    if (from < 0) continue;
    const [track] = list.splice(from, 1);
    // -1: to the end.
    const to = before < 0 ? list.length : list.findIndex((each) => each.id === before);
    list.splice(to < 0 ? from : to, 0, track as TimelineTrack);
  }
  return list;
}

export function matches(
  track: TimelineTrack,
  ranks: readonly TimelineRank[],
  { filter }: TreeState,
): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const rank = ranks.find((each) => each.part === track.part)?.label ?? '';
  const counters = track.counters.map((counter) => counter.name).join(' ');
  const text = `${rank} ${track.process} ${track.label} ${counters}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The rows that touch `top`..`bottom`. */
export function rowsBetween(rows: readonly TrackRow[], top: number, bottom: number): TrackRow[] {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle] as TrackRow;
    if (row.top + row.height <= top) low = middle + 1;
    else high = middle;
  }
  const found: TrackRow[] = [];
  for (let at = low; at < rows.length; at++) {
    const row = rows[at] as TrackRow;
    if (row.top >= bottom) break;
    found.push(row);
  }
  return found;
}

/** The row that shows a track itself; a pinned one only where there is no other. */
export function rowOf(rows: readonly TrackRow[], track: number): TrackRow | undefined {
  return (
    rows.find((row) => row.key === trackKey(track)) ?? rows.find((row) => row.key === `n${track}`)
  );
}
