import { describe, expect, it } from 'vitest';
import { cellAt, heatLayout, LEVELS, levelOf, movedCell, namedRows } from './heat';

describe('a heat map', () => {
  it.each([2, 8, 64, 256])('fits %i ranks, each visible', (n) => {
    const layout = heatLayout(n, 900, 560, { row: 24, column: 24 });
    expect(layout.cell).toBeGreaterThanOrEqual(2);
    expect(layout.left + n * layout.cell).toBeLessThanOrEqual(900);
    expect(layout.every * layout.cell).toBeGreaterThanOrEqual(28);
  });

  it('finds the cell under the pointer', () => {
    const layout = heatLayout(8, 900, 560, { row: 20, column: 20 });
    const middle = layout.cell / 2;
    const x = layout.left + 3 * layout.cell + middle;
    const y = layout.top + 2 * layout.cell + middle;
    expect(cellAt(x, y, 8, layout)).toBe(2 * 8 + 3);
    expect(cellAt(1, y, 8, layout)).toBe(-1);
    expect(cellAt(x, 9_999, 8, layout)).toBe(-1);
  });

  it('names the beginnings of groups first', () => {
    expect(namedRows(4, [], 20)).toEqual([0, 1, 2, 3]);
    expect(namedRows(16, [7], 4)).toEqual([0, 7, 12]);
    expect(namedRows(8, [3, 4], 6)).toEqual([0, 3]);
  });

  it('colours linearly from zero', () => {
    expect([0, 50, 100, 200].map((value) => levelOf(value, 100))).toEqual([
      0,
      Math.round((LEVELS - 1) / 2),
      LEVELS - 1,
      LEVELS - 1,
    ]);
    expect(levelOf(5, 0)).toBe(0);
  });

  it('moves by the arrows and stays inside', () => {
    expect(movedCell(-1, 4, 'ArrowRight')).toBe(0);
    expect(movedCell(0, 4, 'ArrowRight')).toBe(1);
    expect(movedCell(3, 4, 'ArrowRight')).toBe(3);
    expect(movedCell(5, 4, 'ArrowDown')).toBe(9);
    expect(movedCell(5, 4, 'ArrowUp')).toBe(1);
    expect(movedCell(5, 4, 'Home')).toBe(4);
    expect(movedCell(5, 4, 'x')).toBeNull();
  });
});
