/** Layout of a map of ranks by measures, and the colour of a distance from the median. */
import { ramp } from '../lib/colour';

/** Distances are drawn from minus to plus this, in steps of colour to either side. */
export const FULL = 8;
const STEPS = 16;
/** From here on a rank stands out; the backend's suspects begin at the same distance. */
export const OUTLIER = 4;

export interface MapLayout {
  left: number;
  row: number;
  column: number;
  gap: number;
  width: number;
  /** Every so manieth row is named. */
  every: number;
}

export function mapLayout(
  rows: number,
  columns: number,
  width: number,
  longestName: number,
): MapLayout {
  const left = Math.min(140, 7 * longestName + 16);
  const column = Math.max(44, Math.min(120, Math.floor((width - left - 2) / Math.max(1, columns))));
  const row = Math.max(1, Math.min(24, Math.floor(620 / Math.max(1, rows))));
  const every = [1, 2, 4, 8, 16, 32, 64].find((k) => k * row >= 14) ?? 64;
  return { left, row, column, gap: row >= 6 ? 1 : 0, width: left + columns * column + 1, every };
}

/** 0 … 2·STEPS: the middle is the median. */
export function deviationLevel(score: number): number {
  const part = Math.max(-1, Math.min(1, score / FULL));
  return STEPS + Math.round(part * STEPS);
}

/** From far below through the middle to far above, in the theme's colours. */
export function deviationColours(colour: (token: string) => string): string[] {
  const middle = colour('deviation-middle');
  return [
    ...ramp(colour('deviation-below'), middle, STEPS + 1),
    ...ramp(middle, colour('deviation-above'), STEPS + 1).slice(1),
  ];
}

/** Rows with a value that stands out. */
export function outlierRows(scores: readonly (readonly (number | null)[])[]): number[] {
  return scores.flatMap((line, row) =>
    line.some((score) => score !== null && Math.abs(score) >= OUTLIER) ? [row] : [],
  );
}
