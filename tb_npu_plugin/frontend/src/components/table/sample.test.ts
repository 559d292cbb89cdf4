import { describe, expect, it } from 'vitest';
import { columnScale, TIME_UNITS } from '../../lib/format';
import { sample } from './sample';

describe('sample', () => {
  it('keeps what decides unit and width', () => {
    expect(sample([5, -3, 0, 0.1, null, 9])).toEqual([-3, 9, 0.1, null]);
    expect(sample(['a', 'abc', '\u7b97\u5b50', ''])).toEqual(['\u7b97\u5b50']);
    expect(sample([])).toEqual([]);
    expect(sample([null, null])).toEqual([null]);
  });

  it('leads to the same unit as all the values', () => {
    for (const values of [
      [1_959_000, 6_500, 0],
      [2e9, 1e3, 5e5],
      [0, 0],
      Array.from({ length: 1000 }, (_, i) => (i + 1) * 713),
    ]) {
      const few = sample(values) as number[];
      expect(columnScale(few, TIME_UNITS)).toEqual(columnScale(values, TIME_UNITS));
    }
  });

  it('looks at a page once', () => {
    const values = [1, 2, 3];
    const first = sample(values);
    values.push(100);
    expect(sample(values)).toBe(first);
  });
});
