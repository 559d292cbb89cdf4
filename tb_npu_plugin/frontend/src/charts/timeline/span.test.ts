import { describe, expect, it } from 'vitest';
import { around, between, kept, lengthOf, moved, revealing, timeAt, xOf, zoomed } from './span';

const WHOLE = [0, 1_000_000] as const;

describe('a span', () => {
  it('stays where the pointer is when zoomed', () => {
    const next = zoomed([0, 100_000], 25_000, 0.5, WHOLE);
    expect(next).toEqual([12_500, 62_500]);
    expect(xOf(next, 25_000, 800)).toBeCloseTo(xOf([0, 100_000], 25_000, 800));
  });

  it('is never longer than the capture, nor shorter than can be told', () => {
    expect(lengthOf(zoomed([0, 900_000], 10, 100, WHOLE))).toBeCloseTo(1_040_000);
    expect(lengthOf(zoomed([500, 560], 530, 0.001, WHOLE))).toBeCloseTo(50);
  });

  it('stops at the ends', () => {
    expect(moved([0, 100_000], -500_000, WHOLE)).toEqual([-20_000, 80_000]);
    expect(moved([0, 100_000], 5_000_000, WHOLE)).toEqual([920_000, 1_020_000]);
    expect(kept([-1e9, 1e9], WHOLE)).toEqual([-20_000, 1_020_000]);
  });

  it('goes to and from pixels', () => {
    expect(timeAt([100, 300], 50, 200)).toBe(150);
    expect(xOf([100, 300], 150, 200)).toBe(50);
  });
});

describe('revealing', () => {
  it('leaves the view alone where the slice is well seen', () => {
    expect(revealing([0, 100_000], [40_000, 50_000], WHOLE, 1_000)).toEqual([0, 100_000]);
  });

  it('moves to a slice elsewhere and keeps the scale', () => {
    expect(revealing([0, 100_000], [500_000, 510_000], WHOLE, 1_000)).toEqual([455_000, 555_000]);
  });

  it('goes closer to a short slice, and away from a long one', () => {
    expect(lengthOf(revealing([0, 1_000_000], [500, 600], WHOLE, 1_000))).toBeLessThan(3_000);
    expect(revealing([0, 1_000], [5_000, 25_000], WHOLE, 1_000)).toEqual(
      around([5_000, 25_000], WHOLE),
    );
  });
});

describe('a movement', () => {
  it('begins and ends where it should', () => {
    expect(between([0, 100], [500, 600], 0)).toEqual([0, 100]);
    expect(between([0, 100], [500, 600], 1)).toEqual([500, 600]);
    expect(between([0, 100], [500, 600], 0.5)).toEqual([250, 350]);
    expect(lengthOf(between([0, 100], [0, 10_000], 0.5))).toBeCloseTo(1_000);
  });
});
