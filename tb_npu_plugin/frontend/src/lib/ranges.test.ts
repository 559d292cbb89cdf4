import { describe, expect, it } from 'vitest';
import { formatRanges, parseRanges } from './ranges';

describe('ranges', () => {
  it('reads lists and ranges in any order', () => {
    expect(parseRanges('5-7, 0,2')).toEqual({ values: [0, 2, 5, 6, 7], error: null });
    expect(parseRanges('')).toEqual({ values: [], error: null });
    expect(parseRanges('0\uff0c2\u30013')).toEqual({ values: [0, 2, 3], error: null });
  });

  it('points at what it cannot read', () => {
    expect(parseRanges('0,x')).toEqual({ values: [0], error: 2 });
    expect(parseRanges('7-5').error).toBe(0);
    expect(parseRanges('1.5').error).toBe(0);
    expect(parseRanges('0-99999999999').error).toBe(0);
  });

  it('writes them short, sorted by number', () => {
    expect(formatRanges([10, 2, 1, 0])).toBe('0-2,10');
    expect(formatRanges([3, 4])).toBe('3,4');
    expect(formatRanges(Array.from({ length: 1024 }, (_, i) => i))).toBe('0-1023');
    expect(formatRanges([])).toBe('');
  });

  it('round-trips', () => {
    expect(parseRanges(formatRanges([0, 2, 5, 6, 7, 900])).values).toEqual([0, 2, 5, 6, 7, 900]);
  });
});
