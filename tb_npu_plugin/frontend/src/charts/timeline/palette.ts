/**
 * Colours of slices: 24 that a name is given for good. They differ in lightness as well as in hue,
 * so that neighbours can be told apart without seeing red from green, and all of them carry the
 * same ink. A slice that stands for many is mixed with the ground, by how full it is.
 */
import { ramp } from '../../lib/colour';

const LIGHT = [
  '#8fb8de',
  '#f2c58b',
  '#9fd3bd',
  '#e3a6c5',
  '#c9bfe8',
  '#e8dc8a',
  '#7fc4d4',
  '#f0a98a',
  '#b9d98c',
  '#d5b49a',
  '#a4b4ee',
  '#dfc0dc',
  '#6fb7a8',
  '#f5d7a8',
  '#b0cfe8',
  '#e89aa2',
  '#cfe0a8',
  '#b59fd8',
  '#8ad0e8',
  '#d8a878',
  '#a8e0c8',
  '#efbcd4',
  '#94a8c8',
  '#d9d0b0',
];
const DARK = [
  '#396693',
  '#845e27',
  '#33705a',
  '#87486b',
  '#645a96',
  '#71641c',
  '#256d7c',
  '#91502f',
  '#4e6e26',
  '#7d5a40',
  '#4d5da8',
  '#7a5476',
  '#1f6a5c',
  '#7d6034',
  '#446783',
  '#934650',
  '#5e6b36',
  '#6a4f96',
  '#286d86',
  '#85592c',
  '#326e5a',
  '#8c5470',
  '#50627f',
  '#6c6446',
];

/** From nearly the ground to the full colour. */
export const LEVELS = 8;

export interface Palette {
  dark: boolean;
  /** By hue and level: `fills[hue * LEVELS + level]`. */
  fills: readonly string[];
  ink: string;
  ground: string;
  /** From short to long, or from few to many. */
  scale: readonly string[];
  unknown: readonly string[];
  dimmed: readonly string[];
  concepts: Readonly<Record<string, readonly string[]>>;
  /** For what is written on a concept's colour. */
  conceptInk: Readonly<Record<string, string>>;
}

export const HUES = LIGHT.length;
const CONCEPTS = ['computing', 'communication', 'overlapped', 'free', 'preparing', 'bubble'];

export function paletteFor(dark: boolean, token: (name: string) => string): Palette {
  const ground = token('panel');
  const levels = (colour: string) => ramp(mix(colour, ground, 0.72), colour, LEVELS);
  return {
    dark,
    fills: (dark ? DARK : LIGHT).flatMap(levels),
    ink: token('ink'),
    ground,
    scale: ramp(mix(token('accent'), ground, 0.85), mix(token('accent'), ground, 0.5), 8),
    unknown: levels(token('unknown')),
    dimmed: levels(token('bone')),
    concepts: Object.fromEntries(CONCEPTS.map((name) => [name, levels(token(name))])),
    conceptInk: Object.fromEntries(CONCEPTS.map((name) => [name, inkOn(token(name))])),
  };
}

/** `colour` with `share` of `other`. */
function mix(colour: string, other: string, share: number): string {
  return ramp(colour, other, 101)[Math.round(share * 100)] ?? colour;
}

/** White or nearly black, whichever is read better; the eye weighs green most. */
function inkOn(colour: string): string {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) =>
    Number.parseInt(colour.slice(at, at + 2), 16),
  );
  return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? '#10141b' : '#ffffff';
}

/** How much of its extent an item fills, as a level. */
export function levelOf(busy: number, extent: number): number {
  if (!(extent > 0) || busy >= extent) return LEVELS - 1;
  return Math.max(0, Math.min(LEVELS - 1, Math.floor((busy / extent) * LEVELS)));
}

/** The concept that a row of the vendor's overlap analysis shows. */
export function conceptOf(name: string): string | null {
  const word = name.toLowerCase();
  if (word.startsWith('comput')) return 'computing';
  if (word.startsWith('communication(not') || word.startsWith('communication (not')) {
    return 'communication';
  }
  if (word.startsWith('communication')) return 'overlapped';
  if (word.startsWith('free')) return 'free';
  if (word.startsWith('bubble')) return 'bubble';
  return word.startsWith('prepar') ? 'preparing' : null;
}

/** From the back to the front, where rows of the overlap analysis are drawn over each other. */
const BELOW = ['free', 'overlapped', 'bubble', 'preparing', 'computing', 'communication'];

export function stacked<T extends { label: string }>(tracks: readonly T[]): T[] {
  const order = (track: T) => BELOW.indexOf(conceptOf(track.label) ?? '');
  return [...tracks].sort((a, b) => order(a) - order(b));
}

/** Hues from one that is farthest from all before it to the next, in both themes and for those who do
 * not see red from green: categories are few, and stand side by side. */
const APART = [
  ...[18, 5, 15, 12, 16, 10, 11, 17, 8, 21, 23, 6],
  ...[2, 3, 9, 13, 1, 0, 22, 14, 19, 20, 4, 7],
];

/** The colour of the n-th of several categories. */
export const hueOfKey = (key: number) => APART[key % HUES] ?? 0;

/** The colour of the n-th of `of` classes that have an order. */
export const scaleAt = (palette: Palette, key: number, of: number): string =>
  palette.scale[Math.round((key / Math.max(1, of - 1)) * (palette.scale.length - 1))] ??
  palette.ground;
