/** Layout of a heat map of `n` × `n` cells, and the colour of a value. */

export const LEVELS = 48;

export interface HeatLayout {
  cell: number;
  /** Between cells, where they are large enough to need none of the space. */
  gap: number;
  /** Room for the names at the left and at the top. */
  left: number;
  top: number;
  /** Every so manieth row and column is named. */
  every: number;
}

const LEAST_CELL = 2;
const MOST_CELL = 56;
const LINE = 14;

/** The largest cells that fit in `width` and `height`; 256 ranks need 2 px each. */
export function heatLayout(
  n: number,
  width: number,
  height: number,
  room: { row: number; column: number },
): HeatLayout {
  const left = Math.min(110, room.row + 10);
  const top = LINE + 6;
  const fit = Math.floor(Math.min((width - left - 2) / n, (height - top) / n));
  const cell = Math.max(LEAST_CELL, Math.min(MOST_CELL, fit));
  const every =
    [1, 2, 4, 8, 16, 32, 64].find((k) => k * cell >= Math.max(LINE, room.column + 4)) ?? 64;
  return { cell, gap: cell >= 8 ? 1 : 0, left, top, every };
}

/** Which rows are named: where a group begins, then at round distances where there is room. */
export function namedRows(n: number, breaks: readonly number[], cell: number): number[] {
  const every = [1, 2, 4, 8, 16].find((k) => k * cell >= LINE - 1) ?? 16;
  const named: number[] = [];
  const free = (at: number) => named.every((other) => Math.abs(other - at) * cell >= LINE - 1);
  for (const at of breaks) if (free(at)) named.push(at);
  for (let at = 0; at < n; at += every) if (free(at)) named.push(at);
  return named.sort((a, b) => a - b);
}

/** 0 … LEVELS-1 of a linear scale from zero to `most`. */
export function levelOf(value: number, most: number): number {
  if (!(most > 0)) return 0;
  return Math.min(LEVELS - 1, Math.max(0, Math.round((value / most) * (LEVELS - 1))));
}

/** The cell under a point as `src * n + dst`, or -1. */
export function cellAt(x: number, y: number, n: number, layout: HeatLayout): number {
  const dst = Math.floor((x - layout.left) / layout.cell);
  const src = Math.floor((y - layout.top) / layout.cell);
  return src >= 0 && src < n && dst >= 0 && dst < n ? src * n + dst : -1;
}

/** Another cell by an arrow key; null for other keys. */
export function movedCell(cell: number, n: number, key: string): number | null {
  const at = Math.max(0, cell);
  const [src, dst] = [Math.floor(at / n), at % n];
  const clamp = (value: number) => Math.min(n - 1, Math.max(0, value));
  switch (key) {
    case 'ArrowRight':
      return src * n + clamp(dst + (cell < 0 ? 0 : 1));
    case 'ArrowLeft':
      return src * n + clamp(dst - 1);
    case 'ArrowDown':
      return clamp(src + (cell < 0 ? 0 : 1)) * n + dst;
    case 'ArrowUp':
      return clamp(src - 1) * n + dst;
    case 'Home':
      return src * n;
    case 'End':
      return src * n + n - 1;
    default:
      return null;
  }
}
