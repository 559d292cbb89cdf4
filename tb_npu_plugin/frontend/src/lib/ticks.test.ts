import { describe, expect, it } from 'vitest';
import { plain } from './format';
import { byteTicks, roundStep, shortBytes, timeTicks } from './ticks';

const texts = (ticks: { text: string }[]) => ticks.map((tick) => plain(tick.text));

describe('ticks', () => {
  it('stand at round steps', () => {
    expect([roundStep(100, 5), roundStep(130, 5), roundStep(7, 7)]).toEqual([20, 50, 1]);
  });

  it('name instants in one unit', () => {
    expect(texts(timeTicks(0, 128e6, 5))).toEqual(['0', '50 ms', '100 ms']);
    expect(texts(timeTicks(20.1e6, 20.4e6, 3))).toEqual([
      '20.1 ms',
      '20.2 ms',
      '20.3 ms',
      '20.4 ms',
    ]);
    expect(texts(timeTicks(1.5e9, 3.2e9, 4))).toEqual(['1.5 s', '2.0 s', '2.5 s', '3.0 s']);
    expect(timeTicks(5, 5, 4)).toEqual([]);
  });

  it('keep the digits that tell close instants apart', () => {
    expect(texts(timeTicks(3_600e9, 3_600e9 + 2_000, 2))).toEqual([
      '3,600.000000 s',
      '3,600.000001 s',
      '3,600.000002 s',
    ]);
  });

  it('are powers of two for sizes', () => {
    const gib = 2 ** 30;
    expect(texts(byteTicks(1.6 * gib, 4))).toEqual(['0', '512 MiB', '1 GiB', '1.5 GiB']);
    expect(texts(byteTicks(3 * gib, 1))).toEqual(['0']);
    expect(texts(byteTicks(0, 4))).toEqual(['0']);
  });

  it('leave out zeros that say nothing', () => {
    expect(plain(shortBytes(2 ** 30))).toBe('1 GiB');
    expect(plain(shortBytes(1.5 * 2 ** 30))).toBe('1.5 GiB');
    expect(plain(shortBytes(100 * 2 ** 20))).toBe('100 MiB');
    expect(plain(shortBytes(20))).toBe('20 B');
  });
});
