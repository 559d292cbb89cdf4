/** Colours between two others, evenly spaced to the eye (mixed in OKLab). */

type Triple = [number, number, number];

/** A minifier writes `#fff`. */
const long = (hex: string) => (hex.length === 4 ? hex.replace(/[^#]/g, '$&$&') : hex);

function channels(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(long(hex).slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

function toLab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function toHex([lightness, a, b]: Triple): string {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const hex = linear.map((value) => {
    const clipped = Math.min(1, Math.max(0, value));
    const coded = clipped <= 0.0031308 ? clipped * 12.92 : 1.055 * clipped ** (1 / 2.4) - 0.055;
    return Math.round(coded * 255)
      .toString(16)
      .padStart(2, '0');
  });
  return `#${hex.join('')}`;
}

/** `steps` colours from `low` to `high`, both included. */
export function ramp(low: string, high: string, steps: number): string[] {
  const from = toLab(channels(low));
  const to = toLab(channels(high));
  return Array.from({ length: steps }, (_, step) => {
    const t = steps > 1 ? step / (steps - 1) : 0;
    return toHex(from.map((value, at) => value + ((to[at] ?? 0) - value) * t) as Triple);
  });
}
