import { describe, expect, it } from 'vitest';
import {
  BYTE_UNITS,
  columnScale,
  exact,
  fixed,
  formatBytes,
  formatCompact,
  formatDuration,
  formatFrequency,
  formatInt,
  formatNumber,
  formatRate,
  formatRatio,
  formatScaled,
  formatTime,
  plain,
  TIME_UNITS,
} from './format';

const text = (value: string) => plain(value);

describe('formatDuration', () => {
  it.each([
    [null, '–'],
    [undefined, '–'],
    [Number.NaN, '–'],
    [Number.POSITIVE_INFINITY, '–'],
    [0, '0'],
    [0.5, '0.500 ns'],
    [1, '1.00 ns'],
    [42, '42.0 ns'],
    [999, '999 ns'],
    [999.4, '999 ns'],
    [999.6, '1.00 µs'],
    [1500, '1.50 µs'],
    [651_200, '651 µs'],
    [999_499, '999 µs'],
    [999_500, '1.00 ms'],
    [8_870_000, '8.87 ms'],
    [136_580_123, '137 ms'],
    [999_999_999, '1.00 s'],
    [1e9, '1.00 s'],
    [12_340_000_000, '12.3 s'],
    [5_432_000_000_000, '5,432 s'],
    [-1_500, '-1.50 µs'],
  ])('%s ns reads %s', (ns, expected) => {
    expect(text(formatDuration(ns))).toBe(expected);
  });

  it('keeps unit and figure on one line', () => {
    expect(formatDuration(1e6)).toBe('1.00\u00a0ms');
  });
});

describe('formatRatio', () => {
  it.each([
    [null, '–'],
    [0, '0 %'],
    [0.25, '25.0 %'],
    [1, '100.0 %'],
    [0.7465, '74.7 %'],
    [0.0005, '0.1 %'],
    [0.0001, '<0.1 %'],
    [12.5, '1,250.0 %'],
    [-0.021, '-2.1 %'],
  ])('%s reads %s', (ratio, expected) => {
    expect(text(formatRatio(ratio))).toBe(expected);
  });
});

describe('sizes, rates, counts', () => {
  it.each([
    [formatBytes(null), '–'],
    [formatBytes(0), '0'],
    [formatBytes(1), '1 B'],
    [formatBytes(1023), '1,023 B'],
    [formatBytes(1024), '1.00 KiB'],
    [formatBytes(427_596_096), '408 MiB'],
    [formatBytes(2 ** 31), '2.00 GiB'],
    [formatRate(23.5e9), '23.5 GB/s'],
    [formatRate(0), '0'],
    [formatCompact(9_999), '9,999'],
    [formatCompact(195_584), '196k'],
    [formatCompact(999_600), '1.0M'],
    [formatCompact(5_234_567), '5.2M'],
    [formatInt(0), '0'],
    [formatInt(null), '–'],
    [formatInt(1_234_567), '1,234,567'],
    [formatInt(-1000), '-1,000'],
    [formatNumber(0.12345), '0.123'],
    [formatNumber(1234), '1,234'],
    [formatNumber(1234.5), '1,235'],
    [formatFrequency(1800), '1,800 MHz'],
  ])('%s is %s', (actual, expected) => {
    expect(text(actual)).toBe(expected);
  });

  it('never writes a minus before nothing', () => {
    expect(fixed(-0.0001, 2)).toBe('0.00');
  });
});

describe('exact values', () => {
  it('keeps every digit the wire gave', () => {
    expect(text(exact(136_580_123.5, 'ns'))).toBe('136,580,123.5 ns');
    expect(text(exact(427_596_096, 'B'))).toBe('427,596,096 B');
    expect(text(exact(0, 'ns'))).toBe('0 ns');
    expect(text(exact(579_180.3278688524, 'ns'))).toBe('579,180.328 ns');
    expect(exact(0.8354988781294496, '', 6)).toBe('0.835499');
    expect(text(exact(1e-9, 'ns'))).toBe('0 ns');
    expect(exact(null, 'ns')).toBe('–');
  });

  it('keeps the digits of an instant', () => {
    expect(text(formatTime(12_345_678))).toBe('12.346 ms');
    expect(text(formatTime(3_012_345_678))).toBe('3.012346 s');
    expect(text(formatTime(0))).toBe('0.000 ms');
  });
});

describe('columnScale', () => {
  const column = (values: (number | null)[]) => {
    const scale = columnScale(values, TIME_UNITS);
    return scale && values.map((value) => text(formatScaled(value, scale)));
  };

  it('lines the digits of a narrow range up in one unit', () => {
    expect(columnScale([1_959_000, 1_423_000, 655_000], TIME_UNITS)?.unit.name).toBe('ms');
    expect(column([1_959_000, 1_423_000, 655_000])).toEqual(['1.959', '1.423', '0.655']);
  });

  it('goes to a smaller unit rather than lose the smallest figure', () => {
    expect(columnScale([1_959_000, 6_500], TIME_UNITS)?.unit.name).toBe('µs');
    expect(column([1_959_000, 6_500])).toEqual(['1,959.00', '6.50']);
  });

  it('gives up where no unit shows both ends', () => {
    expect(columnScale([2e9, 1e3], TIME_UNITS)).toBeNull();
  });

  it('leaves unknown and zero as they are', () => {
    expect(column([null, 0, 5_000_000])).toEqual(['–', '0', '5.00']);
    expect(columnScale([null, 0], TIME_UNITS)).toBeNull();
    expect(columnScale([], TIME_UNITS)).toBeNull();
  });

  it('says "less than" when a later row falls below the last digit', () => {
    const scale = columnScale([5_000_000, 6_000_000], TIME_UNITS);
    expect(scale && formatScaled(1, scale)).toBe('<0.01');
  });

  it('counts bytes in whole ones', () => {
    expect(columnScale([512, 900], BYTE_UNITS)).toEqual({
      unit: { name: 'B', size: 1 },
      decimals: 0,
    });
  });
});
