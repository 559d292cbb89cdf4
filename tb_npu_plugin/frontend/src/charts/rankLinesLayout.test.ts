import { describe, expect, it } from 'vitest';
import { labelPlaces, linesAxis, nearestRow } from './rankLinesLayout';

describe('lines over the steps', () => {
  it('begin at 0 unless that would flatten them', () => {
    expect(linesAxis([10, null, 100]).low).toBe(0);
    const close = linesAxis([100, 110]);
    expect(close.low).toBeCloseTo(99.4);
    expect(close.high).toBeCloseTo(110.6);
    expect(linesAxis([-10, 10]).low).toBeCloseTo(-11.2);
    expect(linesAxis([0, 0]).high).toBeGreaterThan(0);
    expect(linesAxis([null])).toEqual({ low: 0, high: 1 });
  });

  it('have names that do not lie on each other', () => {
    expect(labelPlaces([50, 10], 12)).toEqual([50, 10]);
    expect(labelPlaces([50, 10, 50], 12)).toEqual([44, 10, 56]);
    expect(labelPlaces([10, 20, 30], 12)).toEqual([8, 20, 32]);
  });

  it('are found by what is nearest in a step', () => {
    expect(nearestRow([10, 20, null, 21], 20.4, 2)).toBe(1);
    expect(nearestRow([10, 20], 15, 2)).toBeNull();
  });
});
