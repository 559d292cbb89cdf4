import { describe, expect, it } from 'vitest';
import { columnAt, LEAST_COLUMN, stripsFor } from './strips';

describe('strips', () => {
  it('keeps 64 ranks on one line', () => {
    expect(stripsFor(64, 720)).toMatchObject({ per: 64, count: 1 });
  });

  it.each([1024, 4096, 10_000])('shows each of %i ranks', (ranks) => {
    const strips = stripsFor(ranks, 740);
    expect(strips.per * strips.count).toBeGreaterThanOrEqual(ranks);
    expect(strips.column).toBeGreaterThan(LEAST_COLUMN * 0.9);
    expect(strips.per % 8).toBe(0);
  });

  it('finds the rank under the pointer', () => {
    const strips = stripsFor(1024, 740);
    const { per, column, height } = strips;
    expect(columnAt(0, 0, 1024, strips)).toBe(0);
    expect(columnAt(column * 5.5, 3, 1024, strips)).toBe(5);
    expect(columnAt(column * 5.5, height + 3, 1024, strips)).toBe(per + 5);
    expect(columnAt(-1, 3, 1024, strips)).toBe(-1);
    expect(columnAt(column * 5.5, height * strips.count + 3, 1024, strips)).toBe(-1);
    expect(columnAt(739, height * (strips.count - 1) + 3, 1000, strips)).toBe(-1);
  });
});
