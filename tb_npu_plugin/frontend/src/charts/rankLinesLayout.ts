/** Layout of one measure over the steps: a line per rank. */

export interface LinesAxis {
  low: number;
  high: number;
}

/** From 0 where the values reach near it, else what they span and a little more. */
export function linesAxis(values: readonly (number | null)[]): LinesAxis {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    if (value === null) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { low: 0, high: 1 };
  const room = (high - low || Math.abs(high) * 0.1 || 1) * 0.06;
  const bottom = low >= 0 && low < high * 0.4 ? 0 : low - room;
  return { low: low >= 0 ? Math.max(0, bottom) : bottom, high: high + room };
}

/** Where labels stand that belong at `wanted`: in that order, at least `apart` from each other. */
export function labelPlaces(wanted: readonly number[], apart: number): number[] {
  const order = wanted.map((_, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
  const places = [...wanted];
  // Labels that touch are moved together, about the middle of where they belong.
  let block: number[] = [];
  const blocks: number[][] = [];
  const middle = (labels: readonly number[]) =>
    labels.reduce((sum, at) => sum + (wanted[at] ?? 0), 0) / labels.length;
  const top = (labels: readonly number[]) => middle(labels) - ((labels.length - 1) / 2) * apart;
  for (const at of order) {
    block = [at];
    let last = blocks.at(-1);
    while (last && top(block) - (top(last) + (last.length - 1) * apart) < apart) {
      block = [...last, ...block];
      blocks.pop();
      last = blocks.at(-1);
    }
    blocks.push(block);
  }
  for (const labels of blocks) {
    labels.forEach((at, place) => {
      places[at] = top(labels) + place * apart;
    });
  }
  return places;
}

/** The row whose value in a column is nearest to `value`, within `reach`; null where none is. */
export function nearestRow(
  values: readonly (number | null)[],
  value: number,
  reach: number,
): number | null {
  let best: number | null = null;
  let least = reach;
  values.forEach((each, row) => {
    if (each === null) return;
    const far = Math.abs(each - value);
    if (far > least || (far === least && best !== null)) return;
    least = far;
    best = row;
  });
  return best;
}
