import { describe, expect, it } from 'vitest';
import { moved } from './keys';

const grid = (row: number, column = 0) =>
  ({ cursor: { row, column }, total: 1000, columns: 5, page: 20 }) as Parameters<typeof moved>[1];
const press = (key: string, row: number, column = 0, ctrlKey = false) =>
  moved({ key, ctrlKey }, grid(row, column));

describe('moving in a table', () => {
  it('starts at the first row', () => {
    expect(press('ArrowDown', -1)).toEqual({ row: 0, column: 0 });
  });

  it('stays inside', () => {
    expect(press('ArrowUp', 0)).toEqual({ row: 0, column: 0 });
    expect(press('ArrowDown', 999)).toEqual({ row: 999, column: 0 });
    expect(press('ArrowRight', 3, 4)).toEqual({ row: 3, column: 4 });
    expect(press('ArrowLeft', 3, 0)).toEqual({ row: 3, column: 0 });
  });

  it('jumps by pages and to the ends', () => {
    expect(press('PageDown', 10, 2)).toEqual({ row: 30, column: 2 });
    expect(press('PageUp', 10, 2)).toEqual({ row: 0, column: 2 });
    expect(press('End', 10, 2)).toEqual({ row: 999, column: 2 });
    expect(press('Home', 10, 2, true)).toEqual({ row: 0, column: 0 });
  });

  it('leaves other keys alone', () => {
    expect(press('x', 1)).toBeNull();
    expect(moved({ key: 'ArrowDown', ctrlKey: false }, { ...grid(0), total: 0 })).toBeNull();
  });
});
