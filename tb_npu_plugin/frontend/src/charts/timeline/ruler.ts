/** What stands at the ruler: moments after the start, or of the clock. */
import { fixed, NBSP, TIME_UNITS, unitFor } from '../../lib/format';
import { type AxisTick, roundStep, timeTicks } from '../../lib/ticks';
import type { Span } from './span';

export interface RulerTicks {
  ticks: readonly AxisTick[];
  /** Short strokes between them. */
  minor: readonly number[];
  /** What all of them share, said once at the left; '' where they say all. */
  common: string;
}

const WANTED_PX = 110;
/** A relative tick is written in full up to this many digits after the point. */
const DIGITS = 3;

export function rulerTicks(span: Span, width: number, baseNs: string | null): RulerTicks {
  const wanted = Math.max(2, Math.floor(width / WANTED_PX));
  const range = span[1] - span[0];
  if (!(range > 0)) return { ticks: [], minor: [], common: '' };
  const step = Math.max(1, roundStep(range, wanted));
  const minor: number[] = [];
  for (let at = Math.ceil(span[0] / (step / 5)); at * (step / 5) <= span[1]; at++) {
    if (at % 5 !== 0) minor.push((at * step) / 5);
  }
  if (baseNs !== null) return { ...clockTicks(span, step, baseNs), minor };
  const unit = unitFor(Math.max(Math.abs(span[0]), Math.abs(span[1])), TIME_UNITS);
  const decimals = Math.ceil(-Math.log10(step / unit.size) - 1e-9);
  if (decimals <= DIGITS) return { ticks: timeTicks(span[0], span[1], wanted), minor, common: '' };
  return { ...offsetTicks(span, step), minor };
}

/** Deep in: a round moment once, and how far after it each tick is. */
function offsetTicks(span: Span, step: number): Omit<RulerTicks, 'minor'> {
  const round = 1_000 * 10 ** Math.max(0, Math.floor(Math.log10(step)) - 1);
  const base = Math.floor(span[0] / round) * round;
  const unit = unitFor(span[1] - base, TIME_UNITS);
  const decimals = Math.max(0, Math.ceil(-Math.log10(step / unit.size) - 1e-9));
  const ticks = steps(span, step).map((value) => ({
    value,
    text: `+${fixed((value - base) / unit.size, decimals)}${NBSP}${unit.name}`,
  }));
  return { ticks, common: longTime(base) };
}

/** Minutes down to what tells the ticks apart; the day and the hour are said once. */
function clockTicks(span: Span, step: number, baseNs: string): Omit<RulerTicks, 'minor'> {
  const base = BigInt(baseNs);
  const digits = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9)));
  const ticks = steps(span, step).map((value) => {
    const text = clockTime(base, value, digits);
    return { value, text: text.slice(text.indexOf(':') + 1) };
  });
  const day = new Date(Number((base + BigInt(Math.round(span[0]))) / 1_000_000n));
  const hour = String(day.getHours()).padStart(2, '0');
  return { ticks, common: `${dayOf(day)} ${hour}h` };
}

function steps([from, to]: Span, step: number): number[] {
  const found: number[] = [];
  for (let at = Math.ceil(from / step - 1e-9); at * step <= to; at++) found.push(at * step);
  return found;
}

const two = (value: number) => String(value).padStart(2, '0');
const dayOf = (day: Date) =>
  `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;

/** `14:03:59.123456`, in the reader's own zone. */
export function clockTime(base: bigint, ns: number, digits = 9): string {
  const at = base + BigInt(Math.round(ns));
  const day = new Date(Number(at / 1_000_000n));
  const fraction = String(at % 1_000_000_000n).padStart(9, '0');
  const seconds = `${two(day.getHours())}:${two(day.getMinutes())}:${two(day.getSeconds())}`;
  return digits > 0 ? `${seconds}.${fraction.slice(0, digits)}` : seconds;
}

export function clockMoment(baseNs: string, ns: number): string {
  const base = BigInt(baseNs);
  const day = new Date(Number((base + BigInt(Math.round(ns))) / 1_000_000n));
  return `${dayOf(day)} ${clockTime(base, ns)}`;
}

/** A moment to the ns, in the largest unit that has no more than its own digits. */
export function longTime(ns: number): string {
  const unit = Math.abs(ns) >= 1e9 ? { size: 1e9, name: 's' } : { size: 1e6, name: 'ms' };
  const text = fixed(ns / unit.size, unit.size === 1e9 ? 9 : 6).replace(/\.?0+$/, '');
  return `${text}${NBSP}${unit.name}`;
}
