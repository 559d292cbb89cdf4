/** How the columns of many ranks are laid out: in as many strips as keep a column visible. */

export interface Strips {
  /** Columns in a strip; a multiple of eight, the ranks of a machine, where there is more than one. */
  per: number;
  count: number;
  height: number;
  /** Width of a column, px. */
  column: number;
}

export const LEAST_COLUMN = 1.8;

export function stripsFor(columns: number, width: number): Strips {
  const fit = Math.max(8, Math.floor(width / LEAST_COLUMN));
  const count = Math.max(1, Math.ceil(columns / fit));
  const even = Math.ceil(columns / count);
  const per = count === 1 ? Math.max(1, columns) : Math.ceil(even / 8) * 8;
  return { per, count, height: count === 1 ? 190 : count === 2 ? 140 : 110, column: width / per };
}

/** The column under a point of the drawing, or -1. */
export function columnAt(x: number, y: number, columns: number, strips: Strips): number {
  const inStrip = Math.floor(x / strips.column);
  if (x < 0 || inStrip >= strips.per || y < 0) return -1;
  const index = Math.floor(y / strips.height) * strips.per + inStrip;
  return index < columns ? index : -1;
}
