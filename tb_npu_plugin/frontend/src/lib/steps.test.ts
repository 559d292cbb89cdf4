import { describe, expect, it } from 'vitest';
import { corners, indexAt, neighbour, valueAt } from './steps';

const curve = { times: [10, 20, 20, 30], values: [1, 5, 2, 4] };
const same = (value: number) => value;

describe('a step function', () => {
  it('holds from a record to the next, the last of equal instants', () => {
    expect([9, 10, 19, 20, 29, 30, 99].map((time) => valueAt(curve, time))).toEqual([
      null,
      1,
      1,
      2,
      2,
      4,
      4,
    ]);
    expect(indexAt([], 5)).toBe(-1);
  });

  it('knows its neighbours', () => {
    expect([5, 10, 20, 30].map((time) => neighbour(curve.times, time, 1))).toEqual([
      10,
      20,
      30,
      null,
    ]);
    expect([10, 20, 25, 99].map((time) => neighbour(curve.times, time, -1))).toEqual([
      null,
      10,
      20,
      30,
    ]);
  });

  it('has corners, not slopes', () => {
    expect(corners(curve, 0, 40, same, same)).toEqual([
      10, 1, 20, 1, 20, 5, 20, 5, 20, 2, 30, 2, 30, 4, 40, 4,
    ]);
  });

  it('begins inside a span with what holds there', () => {
    expect(corners(curve, 25, 28, same, same)).toEqual([25, 2, 28, 2]);
    expect(corners(curve, 0, 5, same, same)).toEqual([]);
  });
});
