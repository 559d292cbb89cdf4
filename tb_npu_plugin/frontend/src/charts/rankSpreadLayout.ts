/** Layout of distributions of ranks: a strip per measure, ranks of like values stacked to either side. */

/** Times that differ less than this share of the median are alike: no axis is narrower. */
const NARROWEST = 0.05;

export interface SpreadAxis {
  low: number;
  high: number;
}

export interface Dot {
  row: number;
  x: number;
  /** From the middle of the strip, upwards negative. */
  y: number;
}

/** Around the median as far as the farthest rank, not below 0 where nothing is. */
export function spreadAxis(least: number, median: number, most: number): SpreadAxis {
  const half = Math.max(most - median, median - least, NARROWEST * Math.abs(median)) || 1;
  const low = median - half;
  return { low: least >= 0 ? Math.max(0, low) : low, high: median + half };
}

/** Where each known value lies on an axis of `width`, within `height`; dots are `size` wide. */
export function spreadDots(
  values: readonly (number | null)[],
  { low, high }: SpreadAxis,
  width: number,
  height: number,
  size: number,
): Dot[] {
  const bins = new Map<number, number[]>();
  values.forEach((value, row) => {
    if (value === null) return;
    const bin = Math.round(((value - low) / (high - low)) * (width / size));
    const there = bins.get(bin);
    if (there) there.push(row);
    else bins.set(bin, [row]);
  });
  const tallest = Math.max(1, ...[...bins.values()].map((rows) => rows.length));
  const apart = Math.min(size, height / tallest);
  return [...bins].flatMap(([bin, rows]) =>
    rows.map((row, at) => ({ row, x: bin * size, y: (at - (rows.length - 1) / 2) * apart })),
  );
}

/** The dot that is nearest to a point, within `reach`; null where none is. */
export function nearestDot(dots: readonly Dot[], x: number, y: number, reach: number): Dot | null {
  let best: Dot | null = null;
  let least = reach * reach;
  for (const dot of dots) {
    const far = (dot.x - x) ** 2 + (dot.y - y) ** 2;
    if (far <= least) {
      least = far;
      best = dot;
    }
  }
  return best;
}
