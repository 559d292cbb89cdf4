import { describe, expect, it } from 'vitest';
import { ramp } from './colour';

describe('ramp', () => {
  it('begins and ends where it should', () => {
    expect(ramp('#e8f0fb', '#08306b', 2)).toEqual(['#e8f0fb', '#08306b']);
    expect(ramp('#000000', '#ffffff', 1)).toEqual(['#000000']);
  });

  it('passes through the middle grey of the eye, not of the numbers', () => {
    expect(ramp('#000000', '#ffffff', 3)[1]).toBe('#636363');
  });

  it('only gets darker', () => {
    const sums = ramp('#e8f0fb', '#08306b', 16).map((hex) =>
      [1, 3, 5].reduce((sum, at) => sum + Number.parseInt(hex.slice(at, at + 2), 16), 0),
    );
    expect(sums).toEqual([...sums].sort((a, b) => b - a));
    expect(new Set(sums).size).toBe(16);
  });
});

it('takes short colours, as a minifier writes them', () => {
  expect(ramp('#fff', '#08306b', 2)).toEqual(['#ffffff', '#08306b']);
});
