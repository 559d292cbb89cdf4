import { expect, it } from 'vitest';
import { parseInstant } from './instant';

it('reads moments as the API does', () => {
  expect(['21501730', '12.5ms', '3 us', '1s', '', 'x', '5 h', undefined].map(parseInstant)).toEqual(
    [21501730, 12.5e6, 3e3, 1e9, null, null, null, null],
  );
});
