/** Spans of time on screen: zoomed, moved, kept inside what there is. Times in ns. */

export type Span = readonly [from: number, to: number];

/** No use in zooming past single ns. */
export const LEAST = 50;

export const lengthOf = ([from, to]: Span) => to - from;

/** Inside `whole` with a little air at its ends; as long as it was where that is possible. */
export function kept([from, to]: Span, whole: Span): Span {
  const air = lengthOf(whole) * 0.02;
  const least = whole[0] - air;
  const most = whole[1] + air;
  const length = Math.min(Math.max(to - from, LEAST), most - least);
  const middle = (from + to) / 2;
  const start = Math.min(Math.max(middle - length / 2, least), most - length);
  return [start, start + length];
}

/** `factor` times as long, with `centre` staying where it is on screen. */
export function zoomed([from, to]: Span, centre: number, factor: number, whole: Span): Span {
  const most = lengthOf(whole) * 1.04;
  const length = Math.min(Math.max((to - from) * factor, LEAST), most);
  const share = (centre - from) / (to - from || 1);
  const start = centre - share * length;
  return kept([start, start + length], whole);
}

export const moved = ([from, to]: Span, by: number, whole: Span): Span =>
  kept([from + by, to + by], whole);

/** A span to look at `target` in: with air on both sides. */
export function around([from, to]: Span, whole: Span, air = 0.1): Span {
  const room = Math.max(to - from, LEAST / 2) * air;
  return kept([from - room, to + room], whole);
}

/** Where something found is seen well: not moved without need, and wide enough to be told. */
export function revealing(now: Span, [from, to]: Span, whole: Span, pixels: number): Span {
  const length = to - from;
  const view = lengthOf(now);
  const wide = (length / view) * pixels;
  if (length > view * 0.9) return around([from, to], whole);
  if (length > 0 && wide < 12) return around([from, to], whole, 12);
  const inside = from >= now[0] + view * 0.05 && to <= now[1] - view * 0.05;
  if (inside) return now;
  const middle = (from + to) / 2;
  return kept([middle - view / 2, middle + view / 2], whole);
}

export const timeAt = ([from, to]: Span, x: number, width: number) =>
  from + (x / (width || 1)) * (to - from);

export const xOf = ([from, to]: Span, time: number, width: number) =>
  ((time - from) / (to - from || 1)) * width;

/** Between two spans, for a movement: the scale changes evenly to the eye. */
export function between(a: Span, b: Span, share: number): Span {
  if (share >= 1) return b;
  const la = lengthOf(a);
  const lb = lengthOf(b);
  const length = la * (lb / la) ** share;
  // The share of the way by which the ends have come together keeps the motion straight.
  const way = Math.abs(la - lb) < 1e-6 * la ? share : (la - length) / (la - lb);
  const from = a[0] + (b[0] - a[0]) * way;
  return [from, from + length];
}

export const sameSpan = (a: Span, b: Span) =>
  Math.abs(a[0] - b[0]) < 1 && Math.abs(a[1] - b[1]) < 1;
