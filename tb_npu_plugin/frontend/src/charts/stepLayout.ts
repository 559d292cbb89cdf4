/**
 * Where the parts of a step bar lie. Zero is the start of the stage: Preparing ends there, so it is
 * drawn before it, and stages of different ranks begin on one line and can be compared.
 *
 * Positions are shares of the drawn width, from the left edge.
 */
import type { StepBar } from '../api/types.gen';

export type Part =
  | 'preparing'
  | 'computing'
  | 'overlapped'
  | 'communication'
  | 'free'
  | 'bubble'
  | 'unknown';

export interface Segment {
  part: Part;
  ns: number;
  at: number;
  width: number;
}

export interface Axis {
  /** Room before zero, and after it, in ns (or in shares of the stage). */
  before: number;
  after: number;
  /** Each bar is drawn against its own stage. */
  share: boolean;
}

/** A Preparing longer than the longest stage would squeeze it: it is cut, and marked as cut. */
const CUT_BEFORE = 0.5;

export const PARTS: readonly Part[] = [
  'preparing',
  'computing',
  'overlapped',
  'communication',
  'free',
  'bubble',
];

export function partNs(bar: StepBar, part: Part): number | null {
  switch (part) {
    case 'preparing':
      return bar.preparing_ns;
    case 'computing':
      return bar.computing_only_ns;
    case 'overlapped':
      return bar.overlapped_ns;
    case 'communication':
      return bar.communication_not_overlapped_ns;
    case 'free':
      return bar.free_ns;
    case 'bubble':
      return bar.bubble_ns;
    case 'unknown':
      return unknownNs(bar);
  }
}

const STAGE_PARTS = PARTS.filter((part) => part !== 'preparing');

function knownNs(bar: StepBar): number {
  return STAGE_PARTS.reduce((sum, part) => sum + Math.max(0, partNs(bar, part) ?? 0), 0);
}

/** What no part accounts for, where a part is unknown; else there is no such rest. */
function unknownNs(bar: StepBar): number {
  const parts: readonly Part[] = ['computing', 'overlapped', 'communication', 'free'];
  if (parts.every((part) => partNs(bar, part) !== null)) return 0;
  return Math.max(0, wholeNs(bar) - knownNs(bar));
}

/** The stage leaves out the bubble; the parts after Preparing do not. */
function wholeNs(bar: StepBar): number {
  return (bar.stage_ns ?? 0) + Math.max(0, bar.bubble_ns ?? 0);
}

function lengthNs(bar: StepBar): number {
  return Math.max(wholeNs(bar), knownNs(bar));
}

export function axisFor(bars: readonly StepBar[], share = false): Axis {
  const unit = (bar: StepBar) => (share ? bar.stage_ns || lengthNs(bar) || 1 : 1);
  let after = 0;
  let before = 0;
  for (const bar of bars) {
    after = Math.max(after, lengthNs(bar) / unit(bar));
    before = Math.max(before, Math.max(0, bar.preparing_ns ?? 0) / unit(bar));
  }
  if (after > 0 && before > after) before = after * CUT_BEFORE;
  return { before, after: after || (before > 0 ? 0 : 1), share };
}

/** The rest that is not known stands where the first unknown part would. */
function drawingOrder(bar: StepBar): readonly Part[] {
  const at = STAGE_PARTS.findIndex((part) => partNs(bar, part) === null);
  return at < 0 ? STAGE_PARTS : [...STAGE_PARTS.slice(0, at), 'unknown', ...STAGE_PARTS.slice(at)];
}

/** Where the stage begins, as a share of the drawn width. */
export function zeroOf(axis: Axis): number {
  return axis.before / (axis.before + axis.after);
}

export interface LaidBar {
  segments: Segment[];
  /** Preparing is longer than its room. */
  cut: boolean;
}

export function layBar(bar: StepBar, axis: Axis): LaidBar {
  const unit = axis.share ? bar.stage_ns || lengthNs(bar) || 1 : 1;
  const room = axis.before + axis.after;
  const zero = zeroOf(axis);
  const segments: Segment[] = [];
  const preparing = Math.max(0, bar.preparing_ns ?? 0);
  const drawn = Math.min(preparing / unit, axis.before);
  if (drawn > 0) {
    segments.push({
      part: 'preparing',
      ns: preparing,
      at: zero - drawn / room,
      width: drawn / room,
    });
  }
  let at = zero;
  for (const part of drawingOrder(bar)) {
    const ns = partNs(bar, part) ?? 0;
    const width = ns / unit / room;
    if (!(width > 0)) continue;
    segments.push({ part, ns, at, width });
    at += width;
  }
  return { segments, cut: preparing / unit > axis.before * 1.0001 };
}

export interface Tick {
  value: number;
  at: number;
}

/** Round values from zero on, about `wanted` of them, where they lie on the axis. */
export function ticksFor(axis: Axis, wanted = 5): Tick[] {
  if (axis.after <= 0) return [];
  const rough = axis.after / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((times) => times * power >= rough) ?? 10) * power;
  const room = axis.before + axis.after;
  const ticks: Tick[] = [];
  for (let i = 0; i * step <= axis.after * 1.0001; i++) {
    ticks.push({ value: i * step, at: (axis.before + i * step) / room });
  }
  return ticks;
}
