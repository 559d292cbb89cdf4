/** Text is readable in both themes: every pair of ink and ground has a contrast of 4.5:1. */
import { describe, expect, it } from 'vitest';
import { contrast } from '../testing.contrast';
import css from './tokens.css?raw';

function tokens(selector: string): Record<string, string> {
  const block = css.slice(css.indexOf(selector)).split('}')[0] ?? '';
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1], match[2]]),
  );
}

const PAIRS = [
  ...['ink', 'ink2', 'ink3', 'accent', 'error', 'warning', 'fine'].flatMap((ink) => [
    [ink, 'panel'],
    [ink, 'bg'],
  ]),
  ...['ink', 'ink2', 'ink3', 'accent'].map((ink) => [ink, 'hover']),
  ['accent', 'accent-soft'],
  ['ink', 'accent-soft'],
  ['on-accent', 'accent'],
  ['error', 'error-soft'],
  ['warning', 'warning-soft'],
  ['ink2', 'warning-soft'],
] as [string, string][];

describe.each([
  ['light', ':root {'],
  ['dark', ':root[data-theme="dark"]'],
])('%s', (_name, selector) => {
  const theme = tokens(selector);
  it.each(PAIRS)('%s on %s', (ink, ground) => {
    expect(contrast(theme[ink] ?? '#000000', theme[ground] ?? '#000000')).toBeGreaterThanOrEqual(
      4.5,
    );
  });
});
