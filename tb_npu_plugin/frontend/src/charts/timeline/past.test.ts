import { expect, it } from 'vitest';
import { Past } from './past';

it('goes back by movements, not by their frames', () => {
  const past = new Past();
  past.keep([0, 1_000], 0);
  past.keep([0, 900], 16);
  past.keep([0, 800], 32);
  past.keep([0, 700], 5_000);
  expect(past.back([0, 500])).toEqual([0, 700]);
  expect(past.back([0, 700])).toEqual([0, 1_000]);
  expect(past.back([0, 1_000])).toBeUndefined();
});

it('does not go back to where one is', () => {
  const past = new Past();
  past.keep([0, 1_000], 0);
  past.keep([0, 500], 5_000);
  expect(past.back([0, 500])).toEqual([0, 1_000]);
});
