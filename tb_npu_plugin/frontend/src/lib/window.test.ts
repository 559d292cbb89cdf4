import { describe, expect, it } from 'vitest';
import { anchorAt, bodyHeight, isScaled, MAX_HEIGHT, reveal, rowWindow, scrollFor } from './window';

const small = { total: 1000, rowHeight: 28, viewport: 560 };
const huge = { total: 5_000_000, rowHeight: 28, viewport: 560 };

describe('a table that fits', () => {
  it('draws the visible rows and a little more', () => {
    const { first, end, origin } = rowWindow(anchorAt(2800, small), small, 5);
    expect([first, end, origin]).toEqual([95, 125, 0]);
  });

  it('stops at both ends', () => {
    expect(rowWindow(anchorAt(0, small), small).first).toBe(0);
    expect(rowWindow(anchorAt(1e9, small), small).end).toBe(1000);
  });

  it('has no window without rows', () => {
    const none = { ...small, total: 0 };
    expect(rowWindow(anchorAt(0, none), none)).toEqual({ first: 0, end: 0, origin: 0 });
  });

  it('handles fewer rows than fit', () => {
    const few = { ...small, total: 3 };
    expect(rowWindow(anchorAt(0, few), few)).toEqual({ first: 0, end: 3, origin: 0 });
    expect(scrollFor(2, few)).toBe(0);
  });
});

describe('a table beyond what a browser can scroll', () => {
  it('maps the bar by ratio and reaches the last row', () => {
    expect(isScaled(huge)).toBe(true);
    expect(bodyHeight(huge)).toBe(MAX_HEIGHT);
    const bottom = MAX_HEIGHT - huge.viewport;
    expect(rowWindow(anchorAt(bottom, huge), huge).end).toBe(5_000_000);
    expect(anchorAt(bottom / 2, huge)).toBeCloseTo((5_000_000 - 20) / 2, 0);
  });

  it('goes there and back', () => {
    for (const row of [0, 1, 777_777, 4_999_980]) {
      expect(anchorAt(scrollFor(row, huge), huge)).toBeCloseTo(row, 4);
    }
  });

  it('puts the anchor row at the top edge wherever the bar stands', () => {
    const anchor = 1_234_567;
    const { origin } = rowWindow(anchor, huge);
    expect(origin + anchor * 28).toBeCloseTo(scrollFor(anchor, huge), 4);
  });
});

describe('reveal', () => {
  it('moves only as far as needed', () => {
    expect(reveal(105, 100, small)).toBe(100);
    expect(reveal(90, 100, small)).toBe(90);
    expect(reveal(120, 100, small)).toBe(101);
    expect(reveal(999, 100, small)).toBe(980);
  });
});
