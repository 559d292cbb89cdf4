/** Moments in the address: ns after the recording's first event, or with a unit (`12.5ms`). */

const UNITS: Record<string, number> = { '': 1, ns: 1, us: 1e3, µs: 1e3, ms: 1e6, s: 1e9 };

export function parseInstant(text: string | undefined): number | null {
  const match = /^\s*(-?\d+(?:\.\d+)?)\s*([a-zµ]*)\s*$/.exec(text ?? '');
  const unit = UNITS[match?.[2] ?? '?'];
  return match && unit !== undefined ? Number(match[1]) * unit : null;
}
