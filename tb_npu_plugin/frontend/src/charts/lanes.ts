/** Geometry of step curves in lanes, one above another, on one axis of time. */
import type { HoverContent } from '../components/HoverCard';
import type { Steps } from '../lib/steps';
import type { Patch } from '../state/route';

export interface Curve extends Steps {
  /** Names its colour and how it is drawn: `reserved`, `active`, `allocated`. */
  measure: string;
}

export interface Lane {
  key: string;
  label: string;
  /** What stands at its right end. */
  figure: string;
  /** Where its label leads. */
  patch: Patch | null;
  curves: readonly Curve[];
  /** A moment of its own. */
  dot: { time: number; value: number; text: string } | null;
}

export interface Frame {
  width: number;
  laneHeight: number;
  lanes: number;
  from: number;
  to: number;
  /** The largest value there is room for. */
  top: number;
}

/** Room for the figures of the vertical axis, and for the last tick of the horizontal one. */
export const LEFT = 62;
export const RIGHT = 12;
export const AXIS = 22;
const ABOVE = 9;

export function laneHeight(lanes: number): number {
  if (lanes <= 1) return 220;
  if (lanes <= 2) return 130;
  if (lanes <= 4) return 92;
  return lanes <= 8 ? 58 : 36;
}

export function xOf(frame: Frame, time: number): number {
  const room = Math.max(1, frame.width - LEFT - RIGHT);
  return LEFT + ((time - frame.from) / (frame.to - frame.from)) * room;
}

export function timeAt(frame: Frame, x: number): number {
  const room = Math.max(1, frame.width - LEFT - RIGHT);
  const share = Math.min(1, Math.max(0, (x - LEFT) / room));
  return frame.from + share * (frame.to - frame.from);
}

/** The lane under a height, clamped. */
export function laneAt(frame: Frame, y: number): number {
  return Math.min(frame.lanes - 1, Math.max(0, Math.floor(y / frame.laneHeight)));
}

export function yOf(frame: Frame, lane: number, value: number): number {
  const bottom = (lane + 1) * frame.laneHeight - 1;
  return bottom - (value / (frame.top || 1)) * (frame.laneHeight - ABOVE);
}

/** A span around `centre`, `factor` times as long, inside what there is. */
export function zoomed(
  [from, to]: readonly [number, number],
  [least, most]: readonly [number, number],
  centre: number,
  factor: number,
): [number, number] {
  const length = Math.min(most - least, Math.max(1_000, (to - from) * factor));
  const share = (centre - from) / (to - from || 1);
  const start = Math.min(Math.max(least, centre - share * length), most - length);
  return [Math.round(start), Math.round(start + length)];
}

export type Describe = (lane: Lane, time: number) => HoverContent;
