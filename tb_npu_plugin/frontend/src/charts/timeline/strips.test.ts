import { expect, it } from 'vitest';
import { pixelOf } from './strips';

it('a pixel has its bytes in the order of the canvas', () => {
  expect(pixelOf('#102030').toString(16)).toBe('ff302010');
  expect(pixelOf('#ffffff').toString(16)).toBe('ffffffff');
  expect(pixelOf('#abc')).toBe(pixelOf('#aabbcc'));
});
