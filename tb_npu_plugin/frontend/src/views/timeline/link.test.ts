import { describe, expect, it } from 'vitest';
import {
  formatMarks,
  formatShifts,
  formatSpan,
  parseMarks,
  parseShifts,
  parseSpan,
  treePatch,
  treeState,
} from './link';

describe('the link', () => {
  it('keeps the span', () => {
    expect(parseSpan(formatSpan([-20.4, 1e12]))).toEqual([-20, 1e12]);
    expect(parseSpan('5-5')).toBeNull();
    expect(parseSpan('soon')).toBeNull();
    expect(parseSpan(undefined)).toBeNull();
  });

  it('keeps how the tracks stand', () => {
    const state = {
      toggled: new Set(['r3', 'p20001', 't5']),
      pinned: [4, 10_002],
      hidden: new Set([1, 2, 3]),
      moves: [
        [7, 5],
        [8, -1],
      ] as const,
      filter: 'stream 2',
      dense: true,
    };
    const params = treePatch(state) as Record<string, string>;
    expect(params.hide).toBe('1-3');
    expect(treeState(params)).toEqual(state);
  });

  it('keeps markers with whatever is written on them', () => {
    const marks = [
      { time: 5, note: 'a:b; c\\d' },
      { time: 70, note: '' },
    ];
    expect(parseMarks(formatMarks(marks))).toEqual(marks);
    expect(parseMarks('')).toEqual([]);
    expect(parseMarks('x;7:ok')).toEqual([{ time: 7, note: 'ok' }]);
  });

  it('keeps the shifts of ranks', () => {
    const shifts = new Map([
      [0, -1_500],
      [3, 0],
      [12, 7],
    ]);
    expect(formatShifts(shifts)).toBe('0:-1500,12:7');
    expect(parseShifts('0:-1500,12:7').get(12)).toBe(7);
  });
});
