import { describe, expect, it } from 'vitest';
import { nearestDot, spreadAxis, spreadDots } from './rankSpreadLayout';

describe('the axis of a distribution', () => {
  it('has the median in the middle and the farthest rank at an end', () => {
    expect(spreadAxis(90, 100, 140)).toEqual({ low: 60, high: 140 });
  });

  it('shows ranks that are alike as alike, and nothing below 0', () => {
    expect(spreadAxis(99.9, 100, 100.1)).toEqual({ low: 95, high: 105 });
    expect(spreadAxis(0, 1, 10)).toEqual({ low: 0, high: 10 });
    expect(spreadAxis(-5, 0, 3)).toEqual({ low: -5, high: 5 });
    expect(spreadAxis(0, 0, 0)).toEqual({ low: 0, high: 1 });
  });
});

describe('the ranks of a distribution', () => {
  const axis = { low: 0, high: 10 };

  it('lie at their values, those of one value side by side', () => {
    const dots = spreadDots([0, 5, 5, null, 10], axis, 100, 20, 5);
    expect(dots).toEqual([
      { row: 0, x: 0, y: 0 },
      { row: 1, x: 50, y: -2.5 },
      { row: 2, x: 50, y: 2.5 },
      { row: 4, x: 100, y: 0 },
    ]);
  });

  it('stay in the strip, however many there are', () => {
    const dots = spreadDots(Array(1000).fill(5), axis, 100, 20, 5);
    expect(dots).toHaveLength(1000);
    expect(Math.max(...dots.map((dot) => Math.abs(dot.y)))).toBeLessThanOrEqual(10);
  });

  it('are found near a point', () => {
    const dots = spreadDots([0, 5, 10], axis, 100, 20, 5);
    expect(nearestDot(dots, 52, 3, 8)?.row).toBe(1);
    expect(nearestDot(dots, 75, 0, 8)).toBeNull();
  });
});
