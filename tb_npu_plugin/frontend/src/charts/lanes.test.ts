import { describe, expect, it } from 'vitest';
import { type Frame, LEFT, laneAt, RIGHT, timeAt, xOf, yOf, zoomed } from './lanes';

const frame: Frame = {
  width: LEFT + RIGHT + 1000,
  laneHeight: 100,
  lanes: 3,
  from: 50,
  to: 150,
  top: 10,
};

describe('lanes', () => {
  it('turn times into places and back', () => {
    expect(xOf(frame, 50)).toBe(LEFT);
    expect(xOf(frame, 150)).toBe(LEFT + 1000);
    expect(timeAt(frame, xOf(frame, 75))).toBe(75);
    expect([timeAt(frame, 0), timeAt(frame, 9e9)]).toEqual([50, 150]);
  });

  it('have zero at their foot', () => {
    expect(yOf(frame, 0, 0)).toBe(99);
    expect(yOf(frame, 1, 0)).toBe(199);
    expect(yOf(frame, 1, 10)).toBeGreaterThan(100);
    expect([-5, 150, 999].map((y) => laneAt(frame, y))).toEqual([0, 1, 2]);
  });

  it('zoom around a moment and stay inside', () => {
    const all = [0, 100_000] as const;
    expect(zoomed(all, all, 50_000, 0.5)).toEqual([25_000, 75_000]);
    expect(zoomed([0, 50_000], all, 0, 0.5)).toEqual([0, 25_000]);
    expect(zoomed([25_000, 75_000], all, 50_000, 4)).toEqual([0, 100_000]);
    expect(zoomed([0, 1_500], all, 700, 0.1)[1]).toBeLessThanOrEqual(1_500);
  });
});
