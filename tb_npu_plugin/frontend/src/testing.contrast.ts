/** For tests: how well two colours are told apart, by WCAG and by CIE 1976. */
type Triple = readonly [number, number, number];

function linear(hex: string): Triple {
  const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return [r, g, b];
}

function luminance([r, g, b]: Triple): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [a, b].map((each) => luminance(linear(each))).sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function lab([r, g, b]: Triple): Triple {
  const [x = 0, y = 0, z = 0] = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
    luminance([r, g, b]),
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
  ].map((t) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** As somebody sees it who lacks the middle cones (Machado 2009). */
function withoutGreen([r, g, b]: Triple): Triple {
  const within = (value: number) => Math.min(1, Math.max(0, value));
  return [
    within(0.367322 * r + 0.860646 * g - 0.227968 * b),
    within(0.280085 * r + 0.672501 * g + 0.047413 * b),
    within(-0.01182 * r + 0.04294 * g + 0.968881 * b),
  ];
}

/** Distance of two colours: 2.3 is just noticed side by side. `blind`: to red and green. */
export function apart(a: string, b: string, blind = false): number {
  const [one, other] = [a, b].map((each) => lab(blind ? withoutGreen(linear(each)) : linear(each)));
  return Math.hypot(...[0, 1, 2].map((at) => (one?.[at] ?? 0) - (other?.[at] ?? 0)));
}
