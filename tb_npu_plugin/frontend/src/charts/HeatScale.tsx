/** What the colours of a heat map mean, and what a cell without one. */

import { heatRamp } from './HeatMap';
import { LEVELS } from './heat';
import { useTheme } from './useTheme';

interface Props {
  label: string;
  most: string;
  none: string;
}

export function HeatScale({ label, most, none }: Props) {
  useTheme(); // drawn again with the theme's colours
  const style = getComputedStyle(document.documentElement);
  const colours = heatRamp((token) => style.getPropertyValue(`--${token}`).trim());
  const stops = colours.filter((_, at) => at % 6 === 0 || at === LEVELS - 1);
  return (
    <div class="heat-scale">
      <p>{label}</p>
      <span class="heat-bar" style={`background:linear-gradient(90deg, ${stops.join(', ')})`} />
      <p class="heat-ends">
        <span>0</span>
        <span>{most}</span>
      </p>
      <p class="heat-none">
        <span class="swatch" /> {none}
      </p>
    </div>
  );
}
