/** Step functions: `values[i]` holds from `times[i]` to the next; of equal instants the last holds. */

export interface Steps {
  times: readonly number[];
  values: readonly number[];
}

/** The last index at or before `time`, or -1. */
export function indexAt(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** What holds at `time`; null before the first record. */
export function valueAt({ times, values }: Steps, time: number): number | null {
  return values[indexAt(times, time)] ?? null;
}

/** The next instant after `time`, or before it; null where there is none. */
export function neighbour(
  times: readonly number[],
  time: number,
  direction: 1 | -1,
): number | null {
  if (direction > 0) return times[indexAt(times, time) + 1] ?? null;
  let at = indexAt(times, time);
  while (at >= 0 && (times[at] as number) >= time) at--;
  return times[at] ?? null;
}

/**
 * The corners of the curve between `from` and `to` as x and y in turn: it begins with what holds at
 * `from`, or at its first record, and ends at `to`.
 */
export function corners(
  { times, values }: Steps,
  from: number,
  to: number,
  x: (time: number) => number,
  y: (value: number) => number,
): number[] {
  const first = Math.max(0, indexAt(times, from));
  const out: number[] = [];
  let level = Number.NaN;
  for (let i = first; i < times.length; i++) {
    const time = Math.max(from, times[i] as number);
    if (time > to) break;
    const at = x(time);
    const next = y(values[i] as number);
    if (!Number.isNaN(level)) out.push(at, level);
    out.push(at, next);
    level = next;
  }
  if (out.length > 0) out.push(x(to), level);
  return out;
}
