import { describe, expect, it } from 'vitest';
import css from '../../styles/tokens.css?raw';
import { apart, contrast } from '../../testing.contrast';
import { conceptOf, HUES, hueOfKey, LEVELS, levelOf, paletteFor } from './palette';

function tokens(selector: string): (name: string) => string {
  const block = css.slice(css.indexOf(selector)).split('}')[0] ?? '';
  const found = Object.fromEntries(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1], match[2]]),
  );
  return (name) => found[name] ?? '#000000';
}

describe.each([
  [false, ':root {'],
  [true, ':root[data-theme="dark"]'],
] as const)('the palette, dark: %s', (dark, selector) => {
  const palette = paletteFor(dark, tokens(selector));

  it('has a colour per hue and level', () => {
    expect(palette.fills).toHaveLength(HUES * LEVELS);
    expect(new Set(palette.fills).size).toBeGreaterThan(HUES * LEVELS * 0.95);
  });

  it('tells seven categories apart, the pipes of a core, by whoever looks', () => {
    const shown = [0, 1, 2, 3, 4, 5, 6].map(
      (key) => palette.fills[hueOfKey(key) * LEVELS + LEVELS - 1] ?? '',
    );
    for (const [at, colour] of shown.entries()) {
      for (const other of shown.slice(at + 1)) {
        expect(apart(colour, other), `${colour} ${other}`).toBeGreaterThan(12);
        expect(apart(colour, other, true), `${colour} ${other}`).toBeGreaterThan(8);
      }
    }
  });

  it('can be written on', () => {
    for (const fill of [...palette.fills, ...palette.scale, ...palette.unknown]) {
      expect(contrast(palette.ink, fill), fill).toBeGreaterThanOrEqual(4.5);
    }
  });
});

it('a level says how full an item is', () => {
  expect(levelOf(10, 10)).toBe(LEVELS - 1);
  expect(levelOf(0.1, 10)).toBe(0);
  expect(levelOf(5, 10)).toBe(LEVELS / 2);
});

it('rows of the overlap analysis have the colours of their concepts', () => {
  expect(conceptOf('Computing')).toBe('computing');
  expect(conceptOf('Communication(Not Overlapped)')).toBe('communication');
  expect(conceptOf('Free')).toBe('free');
  expect(conceptOf('MatMul')).toBeNull();
});
