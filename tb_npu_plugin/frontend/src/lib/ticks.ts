/** Round values along an axis, and how they are written. */
import { BYTE_UNITS, fixed, formatBytes, NBSP, TIME_UNITS, unitFor } from './format';

export interface AxisTick {
  value: number;
  text: string;
}

/** 1, 2 or 5 times a power of ten: the smallest that makes at most `wanted` steps. */
export function roundStep(range: number, wanted: number): number {
  const rough = range / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5, 10].find((times) => times * power >= rough * 0.9999) ?? 10) * power;
}

/** Instants between `from` and `to`, ns, in one unit with as many digits as tell them apart. */
export function timeTicks(from: number, to: number, wanted: number): AxisTick[] {
  if (!(to > from)) return [];
  const step = Math.max(1, roundStep(to - from, wanted));
  const unit = unitFor(Math.max(Math.abs(from), Math.abs(to)), TIME_UNITS);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit.size) - 1e-9));
  const ticks: AxisTick[] = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to * (1 + 1e-12); at++) {
    const value = at * step;
    const text = value === 0 ? '0' : `${fixed(value / unit.size, decimals)}${NBSP}${unit.name}`;
    ticks.push({ value, text });
  }
  return ticks;
}

/** Sizes from 0 up to `most`, at a power of two. */
export function byteTicks(most: number, wanted: number): AxisTick[] {
  if (!(most > 0)) return [{ value: 0, text: '0' }];
  const step = 2 ** Math.ceil(Math.log2(most / wanted) - 1e-9);
  const ticks: AxisTick[] = [];
  for (let value = 0; value <= most; value += step) ticks.push({ value, text: shortBytes(value) });
  return ticks;
}

/** "1.5 GiB" rather than "1.50 GiB". */
export function shortBytes(bytes: number): string {
  if (bytes !== 0 && unitFor(bytes, BYTE_UNITS).name === 'B') return formatBytes(bytes);
  return formatBytes(bytes)
    .replace(/(\.\d*?)0+(?=\u00a0)/, '$1')
    .replace(/\.(?=\u00a0)/, '');
}
