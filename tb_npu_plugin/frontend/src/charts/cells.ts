/** Places in a grid of rows by columns, and moving among them by keys. */

/** Row and column. */
export type Cell = readonly [number, number];

/** Another cell by an arrow key; null for other keys. */
export function movedIn(at: Cell | null, rows: number, columns: number, key: string): Cell | null {
  const [row, column] = at ?? [0, 0];
  const clamp = (value: number, most: number) => Math.min(most - 1, Math.max(0, value));
  switch (key) {
    case 'ArrowRight':
      return [row, clamp(column + (at ? 1 : 0), columns)];
    case 'ArrowLeft':
      return [row, clamp(column - 1, columns)];
    case 'ArrowDown':
      return [clamp(row + (at ? 1 : 0), rows), column];
    case 'ArrowUp':
      return [clamp(row - 1, rows), column];
    default:
      return null;
  }
}
