/**
 * The few values of a column that decide its unit and its width: a long table is looked at page by
 * page, and each page once.
 */
import { columnsOf } from '../../lib/text';

const seen = new WeakMap<readonly unknown[], unknown[]>();

/** Smallest and largest figure, the one nearest to zero, the longest text, and null if there is one. */
export function sample(values: readonly unknown[]): unknown[] {
  const known = seen.get(values);
  if (known) return known;
  const out = choose(values);
  seen.set(values, out);
  return out;
}

function choose(values: readonly unknown[]): unknown[] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let near = Number.POSITIVE_INFINITY;
  let longest = '';
  let most = 0;
  let unknown = false;
  for (const value of values) {
    if (typeof value === 'number') {
      low = Math.min(low, value);
      high = Math.max(high, value);
      if (value !== 0 && Math.abs(value) < Math.abs(near)) near = value;
    } else if (typeof value === 'string') {
      const columns = columnsOf(value.length > 100 ? value.slice(0, 100) : value);
      if (columns > most) {
        most = columns;
        longest = value;
      }
    } else {
      unknown = true;
    }
  }
  const figures = [low, high, near].filter(Number.isFinite);
  return [...figures, ...(most > 0 ? [longest] : []), ...(unknown ? [null] : [])];
}
