/**
 * How figures are written. Times arrive in ns, sizes in bytes, shares as 0..1; `null` is
 * unknown and prints "–", while 0 is a measurement and prints "0".
 *
 * A unit keeps to its figure with a no-break space (`NBSP`).
 */

export type Num = number | null | undefined;

export interface Unit {
  name: string;
  size: number;
}

export const NBSP = '\u00a0';
export const UNKNOWN = '–';
const MINUS = '\u2212';

/** Largest first. */
export const TIME_UNITS: readonly Unit[] = [
  { name: 's', size: 1e9 },
  { name: 'ms', size: 1e6 },
  { name: 'µs', size: 1e3 },
  { name: 'ns', size: 1 },
];
export const BYTE_UNITS: readonly Unit[] = [
  { name: 'TiB', size: 2 ** 40 },
  { name: 'GiB', size: 2 ** 30 },
  { name: 'MiB', size: 2 ** 20 },
  { name: 'KiB', size: 2 ** 10 },
  { name: 'B', size: 1 },
];
/** Sizes of communication: the exporter counts a MB as 10^6 bytes. */
export const DECIMAL_UNITS: readonly Unit[] = [
  { name: 'TB', size: 1e12 },
  { name: 'GB', size: 1e9 },
  { name: 'MB', size: 1e6 },
  { name: 'kB', size: 1e3 },
  { name: 'B', size: 1 },
];
/** Bandwidths are decimal, as the vendor's files and data sheets give them. */
export const RATE_UNITS: readonly Unit[] = [
  { name: 'TB/s', size: 1e12 },
  { name: 'GB/s', size: 1e9 },
  { name: 'MB/s', size: 1e6 },
  { name: 'kB/s', size: 1e3 },
  { name: 'B/s', size: 1 },
];

export function isKnown(value: Num): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** `value` with `decimals` digits after the point and grouped thousands. */
export function fixed(value: number, decimals: number): string {
  const text = Math.abs(value).toFixed(decimals);
  const [whole = '', fraction] = text.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const sign = value < 0 && Number(text) !== 0 ? MINUS : '';
  return sign + grouped + (fraction ? `.${fraction}` : '');
}

/** Digits after the point that leave three significant ones. */
export function decimalsFor(value: number): number {
  if (value === 0) return 0;
  return Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)) + 1e-12));
}

/** Three significant digits; whole digits are never dropped. */
export function significant(value: number): string {
  const rounded = Number(value.toPrecision(3));
  return fixed(value, Math.min(decimalsFor(rounded), 12));
}

/** The unit in which `value`, once rounded, reads from 1 up; the smallest below that. */
export function unitFor(value: number, units: readonly Unit[]): Unit {
  const reads = (unit: Unit) => Number(Math.abs(value / unit.size).toPrecision(3));
  return units.find((unit) => reads(unit) >= 1) ?? (units[units.length - 1] as Unit);
}

function scaled(value: Num, units: readonly Unit[]): string {
  if (!isKnown(value)) return UNKNOWN;
  if (value === 0) return '0';
  const unit = unitFor(value, units);
  const figure =
    unit.size === 1 && unit.name === 'B' ? fixed(value, 0) : significant(value / unit.size);
  return `${figure}${NBSP}${unit.name}`;
}

/** 136580123 -> "137 ms" */
export const formatDuration = (ns: Num): string => scaled(ns, TIME_UNITS);

/** 427596096 -> "408 MiB" */
export const formatBytes = (bytes: Num): string => scaled(bytes, BYTE_UNITS);

/** 427596096 -> "428 MB" */
export const formatDecimalBytes = (bytes: Num): string => scaled(bytes, DECIMAL_UNITS);

/** 23500000000 -> "23.5 GB/s" */
export const formatRate = (rate: Num): string => scaled(rate, RATE_UNITS);

/** 0.25 -> "25.0 %". A share that is there but rounds to nothing says so: "<0.1 %". */
export function formatRatio(ratio: Num): string {
  if (!isKnown(ratio)) return UNKNOWN;
  if (ratio === 0) return `0${NBSP}%`;
  if (Math.abs(ratio) < 0.0005) return `${ratio < 0 ? '>−' : '<'}0.1${NBSP}%`;
  return `${fixed(ratio * 100, 1)}${NBSP}%`;
}

/** 1234567 -> "1,234,567" */
export function formatInt(value: Num): string {
  return isKnown(value) ? fixed(value, 0) : UNKNOWN;
}

/** Short, for the menu: 5234567 -> "5.2M" */
export function formatCompact(value: number): string {
  if (value < 10_000) return fixed(value, 0);
  if (value < 999_500) return `${Math.round(value / 1e3)}k`;
  return `${(value / 1e6).toFixed(value < 99.5e6 ? 1 : 0)}M`;
}

/** A plain figure: whole ones in full, others with three significant digits. */
export function formatNumber(value: Num): string {
  if (!isKnown(value)) return UNKNOWN;
  return Number.isInteger(value) ? fixed(value, 0) : significant(value);
}

/** MHz, as the vendor writes it; 1800 -> "1,800 MHz" */
export function formatFrequency(mhz: Num): string {
  return isKnown(mhz) ? `${formatNumber(mhz)}${NBSP}MHz` : UNKNOWN;
}

/**
 * The value itself in its base unit, for hovers and copies: 136580123.5 -> "136,580,123.5 ns".
 * Means carry digits that nobody measured: those past `most` decimals go.
 */
export function exact(value: Num, unit: string, most = 3): string {
  if (!isKnown(value)) return UNKNOWN;
  const rounded = Number(value.toFixed(most));
  const decimals = String(Math.abs(rounded)).split('.')[1]?.length ?? 0;
  return `${fixed(rounded, Math.min(decimals, most))}${unit ? NBSP + unit : ''}`;
}

/** One unit and one number of decimals for a whole column. */
export interface Scale {
  unit: Unit;
  decimals: number;
}

/** Beyond this many digits a column is harder to read than mixed units. */
const MAX_DIGITS = 7;

/**
 * The unit in which a column can be written so that its digits line up: the largest one in which
 * the smallest figure keeps two significant digits, or null where the range does not allow it.
 */
export function columnScale(values: readonly Num[], units: readonly Unit[]): Scale | null {
  let low = Number.POSITIVE_INFINITY;
  let high = 0;
  for (const value of values) {
    if (!isKnown(value) || value === 0) continue;
    low = Math.min(low, Math.abs(value));
    high = Math.max(high, Math.abs(value));
  }
  if (high === 0) return null;
  const start = units.indexOf(unitFor(high, units));
  for (const unit of units.slice(start)) {
    const whole = Math.max(1, Math.floor(Math.log10(high / unit.size)) + 1);
    const wanted = decimalsFor(low / unit.size);
    const decimals = Math.min(
      Math.max(wanted, decimalsFor(high / unit.size)),
      3,
      MAX_DIGITS - whole,
    );
    if (decimals >= 0 && wanted - decimals <= 1) {
      return { unit, decimals: unit.name === 'B' ? 0 : decimals };
    }
  }
  return null;
}

/** A figure of a column that has one unit; the unit stands in the head. */
export function formatScaled(value: Num, scale: Scale): string {
  if (!isKnown(value)) return UNKNOWN;
  if (value === 0) return '0';
  const text = fixed(value / scale.unit.size, scale.decimals);
  return Number(text.replace(/,/g, '')) === 0 ? `<${10 ** -scale.decimals}` : text;
}

/** An offset on the capture's clock: positions are compared, so all digits down to 1 µs stay. */
export function formatTime(ns: Num): string {
  if (!isKnown(ns)) return UNKNOWN;
  if (Math.abs(ns) >= 1e9) return `${fixed(ns / 1e9, 6)}${NBSP}s`;
  return `${fixed(ns / 1e6, 3)}${NBSP}ms`;
}

/** Text for the clipboard: plain spaces, a plain minus. */
export function plain(text: string): string {
  return text.replaceAll(NBSP, ' ').replaceAll(MINUS, '-');
}
