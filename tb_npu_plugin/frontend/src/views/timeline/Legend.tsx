/** What the colours mean, where they are not those of names. */
import { hueOfKey, LEVELS, type Palette, paletteFor, scaleAt } from '../../charts/timeline/palette';
import { useTheme } from '../../charts/useTheme';
import { t } from '../../i18n';
import { elide, visible } from '../../lib/text';

const SHOWN = 14;

export function Legend({ legend, colour }: { legend: readonly string[]; colour: string }) {
  const theme = useTheme();
  const style = getComputedStyle(document.documentElement);
  const palette = paletteFor(theme === 'dark', (name) =>
    style.getPropertyValue(`--${name}`).trim(),
  );
  return (
    <ul class="legend tl-legend" aria-label={t.value.timeline.colour}>
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

function fill(palette: Palette, colour: string, key: number, of: number): string {
  if (colour === 'duration') return scaleAt(palette, key, of);
  return palette.fills[hueOfKey(key) * LEVELS + LEVELS - 1] ?? '';
}
