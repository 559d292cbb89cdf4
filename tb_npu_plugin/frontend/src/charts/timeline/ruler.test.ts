import { describe, expect, it } from 'vitest';
import { clockTime, longTime, rulerTicks } from './ruler';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');

describe('the ruler', () => {
  it('counts from the start in one unit', () => {
    const { ticks, common } = rulerTicks([0, 10_000_000], 550, null);
    expect(ticks.map((tick) => plain(tick.text))).toEqual([
      '0',
      '2 ms',
      '4 ms',
      '6 ms',
      '8 ms',
      '10 ms',
    ]);
    expect(common).toBe('');
  });

  it('says a far moment once and counts from there', () => {
    const { ticks, common } = rulerTicks([5_123_456_000, 5_123_457_000], 550, null);
    expect(common).not.toBe('');
    for (const tick of ticks) expect(plain(tick.text)).toMatch(/^\+[\d.,]+ (ns|µs)$/);
    expect(new Set(ticks.map((tick) => tick.text)).size).toBe(ticks.length);
  });

  it('tells the clock', () => {
    const { ticks, common } = rulerTicks([0, 5e9], 550, '1700000000000000000');
    expect(ticks[1]?.text).toMatch(/^\d\d:\d\d(\.\d+)?$/);
    expect(common).toMatch(/^2023-11-1\d \d\dh$/);
  });

  it('puts strokes between', () => {
    const { minor } = rulerTicks([0, 10_000_000], 550, null);
    expect(minor).toContain(400_000);
    expect(minor).not.toContain(2_000_000);
  });
});

it('a clock keeps every ns', () => {
  expect(clockTime(1_700_000_000_000_000_000n, 123_456_789)).toMatch(/\.123456789$/);
});

it('a long time has no idle zeros', () => {
  expect(plain(longTime(5_123_456_789))).toBe('5.123456789 s');
  expect(plain(longTime(1_500_000))).toBe('1.5 ms');
});
