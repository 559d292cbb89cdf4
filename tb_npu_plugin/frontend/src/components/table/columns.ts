/** How a column is written: one unit where its range allows, its width, its share bar. */
import type { Column } from '../../api/types.gen';
import type { Dictionary } from '../../i18n/types';
import {
  BYTE_UNITS,
  columnScale,
  DECIMAL_UNITS,
  exact,
  formatBytes,
  formatDecimalBytes,
  formatDuration,
  formatFrequency,
  formatInt,
  formatNumber,
  formatRate,
  formatRatio,
  formatScaled,
  formatTime,
  isKnown,
  type Num,
  RATE_UNITS,
  type Scale,
  TIME_UNITS,
  UNKNOWN,
  type Unit,
} from '../../lib/format';
import { elide, visible } from '../../lib/text';
import { longestWidth, textWidth } from './measure';

export interface ColumnView {
  column: Column;
  /** Of the whole column, shown in its head; empty where each figure has its own. */
  unit: string;
  figure: boolean;
  width: number;
  /** With its head broken at every blank. */
  least: number;
  text: (value: unknown) => string;
  /** The exact value in its base unit. */
  hover: (value: unknown) => string;
  /** 0..1 of the cell, for columns of shares. */
  share: ((value: unknown) => number) | null;
}

interface Measure {
  units: readonly Unit[];
  format: (value: Num) => string;
  base: string;
}

const MEASURES: Partial<Record<Column['kind'], Measure>> = {
  duration: { units: TIME_UNITS, format: formatDuration, base: 'ns' },
  bytes: { units: BYTE_UNITS, format: formatBytes, base: 'B' },
  rate: { units: RATE_UNITS, format: formatRate, base: 'B/s' },
};
const DECIMAL: Measure = { units: DECIMAL_UNITS, format: formatDecimalBytes, base: 'B' };
const FIGURES = new Set<Column['kind']>([
  ...(['int', 'number', 'duration', 'time', 'bytes', 'ratio', 'rate', 'frequency'] as const),
  ...(['id', 'rank', 'device', 'step'] as const),
]);

/** All columns of a table. Share bars are drawn to one scale, so that they compare along a row too. */
export function viewColumns(
  columns: readonly Column[],
  valuesOf: (column: Column) => readonly unknown[],
  words: Dictionary,
  decimal = false,
): ColumnView[] {
  const values = columns.map(valuesOf);
  const full = fullShare(
    columns.flatMap((column, at) => (column.kind === 'ratio' ? values[at] : [])),
  );
  return columns.map((column, at) => viewColumn(column, values[at] ?? [], words, full, decimal));
}

export function viewColumn(
  column: Column,
  values: readonly unknown[],
  words: Dictionary,
  full = 1,
  decimal = false,
): ColumnView {
  const figures = values as readonly Num[];
  const measure = decimal && column.kind === 'bytes' ? DECIMAL : MEASURES[column.kind];
  const scale = scaleOf(column, figures, measure);
  const text = (value: unknown): string => {
    if (scale) return formatScaled(value as Num, scale);
    return valueText(column, value, words, measure);
  };
  const unit = scale?.unit.name ?? '';
  const figure = FIGURES.has(column.kind);
  const content = contentWidth(column, scale ? undefined : measure, values, text);
  return {
    column,
    unit,
    figure,
    width: Math.max(content, headWidth(column.label, unit)),
    least: Math.max(content, longestWord(column.label, unit) + PADDING),
    text,
    hover: (value) => defined(column, value, hoverText(column, value, measure, text(value))),
    share:
      column.kind === 'ratio'
        ? (value) => (typeof value === 'number' ? Math.min(1, Math.max(0, value / full)) : 0)
        : null,
  };
}

/** A value on its own, with its unit. */
export function valueText(
  column: Pick<Column, 'kind'>,
  value: unknown,
  words: Dictionary,
  measure = MEASURES[column.kind],
): string {
  return measure ? measure.format(value as Num) : plainText(column, value, words);
}

function scaleOf(column: Column, values: readonly Num[], measure?: Measure): Scale | null {
  if (measure) return columnScale(values, measure.units);
  // Positions are compared: all of them in ms down to the µs, beyond a minute in s.
  if (column.kind !== 'time' || !values.some(isKnown)) return null;
  const far = values.some((value) => Math.abs(value ?? 0) >= 60e9);
  return far
    ? { unit: TIME_UNITS[0] as Unit, decimals: 6 }
    : { unit: TIME_UNITS[1] as Unit, decimals: 3 };
}

function plainText(column: Pick<Column, 'kind'>, value: unknown, words: Dictionary): string {
  const num = value as Num;
  switch (column.kind) {
    case 'ratio':
      return formatRatio(num);
    case 'int':
      return formatInt(num);
    case 'number':
      return formatNumber(num);
    case 'frequency':
      return formatFrequency(num);
    case 'time':
      return formatTime(num);
    // A row without a step lies outside all of them; that is known, not missing.
    case 'step':
      return value === null ? words.table.outside : String(value);
    case 'rank':
      return value === null ? words.table.unknownRank : String(value);
    default:
      return value === null || value === undefined || value === '' ? UNKNOWN : String(value);
  }
}

/** What a figure means stands under it. */
function defined(column: Column, value: unknown, exact: string): string {
  return typeof value === 'number' && column.description
    ? `${exact}\n${column.description}`
    : exact;
}

function hoverText(
  column: Column,
  value: unknown,
  measure: Measure | undefined,
  shown: string,
): string {
  if (typeof value !== 'number') return elide(visible(shown), 1_000);
  if (measure) return exact(value, measure.base);
  if (column.kind === 'time') return exact(value, 'ns');
  if (column.kind === 'ratio') return exact(value, '', 6);
  return column.kind === 'number' ? exact(value, '', 6) : shown;
}

/** A full cell is the first of these that the largest share fits in, so that small shares differ. */
const FULL = [0.05, 0.1, 0.25, 0.5, 1];

export function fullShare(values: readonly unknown[]): number {
  let high = 0;
  for (const value of values) if (typeof value === 'number') high = Math.max(high, value);
  return FULL.find((step) => high <= step) ?? 1;
}

const PADDING = 22;
const SORT_MARK = 12;
const WIDTHS: Partial<Record<Column['kind'], [least: number, most: number]>> = {
  name: [180, 370],
  text: [60, 260],
  shape: [80, 240],
  core: [84, 150],
  ratio: [92, 140],
};

/** `measure`: of figures that have a unit each. */
function contentWidth(
  column: Column,
  measure: Measure | undefined,
  values: readonly unknown[],
  text: (value: unknown) => string,
): number {
  const [least, most] = WIDTHS[column.kind] ?? [48, 220];
  const tag = column.kind === 'core' ? 12 : 0;
  // Figures between the samples may have more digits, and a wider unit.
  const mixed = measure?.units.map((unit) => `8.88 ${unit.name}`) ?? [];
  const content = longestWidth([...values.map(text), ...mixed]) + PADDING + tag;
  return Math.min(Math.max(content, least), most);
}

/** A head may break into two lines, but not inside a word; the sort mark needs its place. */
function headWidth(label: string, unit: string): number {
  const whole = textWidth(label + (unit ? ` (${unit})` : ''));
  const longest = longestWord(label, unit);
  return Math.max(longest, Math.min(whole, 110), whole / 2 + 8) * 1.02 + PADDING + SORT_MARK;
}

function longestWord(label: string, unit: string): number {
  return Math.max(...label.split(/\s+/).map(textWidth), unit ? textWidth(`(${unit})`) : 0);
}
