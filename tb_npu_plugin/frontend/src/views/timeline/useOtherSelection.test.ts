import { expect, it } from 'vitest';
import { movedBy } from './useOtherSelection';

it('the times of a link move with the first event', () => {
  expect(movedBy({ w: '100-200', marks: '5:a;9:b' }, 50)).toEqual({
    w: '150-250',
    range: null,
    marks: '55:a;59:b',
  });
});
