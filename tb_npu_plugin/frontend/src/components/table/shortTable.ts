/** A short table made of a list: a column each by key, label, kind and what it shows of an entry. */
import type { Column, Table } from '../../api/types.gen';

export type ShortColumn<T> = [
  key: string,
  label: string,
  kind: Column['kind'],
  value: (entry: T) => unknown,
];

/** Columns without a known value are left out. */
export function shortTable<T>(entries: readonly T[], columns: readonly ShortColumn<T>[]): Table {
  const known = columns
    .map(([key, label, kind, value]) => ({ key, label, kind, values: entries.map(value) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== undefined));
  return {
    columns: known.map(({ key, label, kind }) => ({
      key,
      label,
      kind,
      description: '',
      shown: true,
      sortable: false,
      concept: null,
    })),
    values: Object.fromEntries(known.map(({ key, values }) => [key, values])),
    total: entries.length,
    unfiltered: entries.length,
    offset: 0,
    sort: '',
    group: '',
    groups: [],
    base_ns: null,
  };
}
