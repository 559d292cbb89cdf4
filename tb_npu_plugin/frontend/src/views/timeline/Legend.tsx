/** What the colours mean, where they are not those of names. */
import { hueOfKey, LEVELS, type Palette, paletteFor, scaleAt } from '../../charts/timeline/palette';
import { useTheme } from '../../charts/useTheme';
import { t } from '../../i18n';
import { elide, visible } from '../../lib/text';
import type { Colour } from './link';

const SHOWN = 14;

export function Legend({ legend, colour }: { legend: readonly string[]; colour: Colour }) {
  const theme = useTheme();
  const style = getComputedStyle(document.documentElement);
  const palette = paletteFor(theme === 'dark', (name) =>
    style.getPropertyValue(`--${name}`).trim(),
  );
  return (
    <ul class="legend tl-legend" aria-label={t.value.timeline.colours[colour]}>
      {legend.slice(0, SHOWN).map((label, key) => (
        <li key={key}>
          <span class="swatch" style={`background:${fill(palette, colour, key, legend.length)}`} />
          {elide(visible(label), 32) || '–'}
        </li>
      ))}
      {legend.length > SHOWN && <li>+{legend.length - SHOWN}</li>}
    </ul>
  );
}

function fill(palette: Palette, colour: Colour, key: number, of: number): string {
  if (colour === 'duration') return scaleAt(palette, key, of);
  return palette.fills[hueOfKey(key) * LEVELS + LEVELS - 1] ?? '';
}
