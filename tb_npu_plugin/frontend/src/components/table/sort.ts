/** The `sort` parameter: `total_ns:desc,name`. */
import type { Column } from '../../api/types.gen';

export interface SortKey {
  key: string;
  descending: boolean;
}

export function parseSort(text: string): SortKey[] {
  return text
    .split(',')
    .filter((part) => part !== '')
    .map((part) => {
      const [key = '', direction] = part.split(':');
      return { key, descending: direction === 'desc' };
    });
}

export function formatSort(keys: readonly SortKey[]): string {
  return keys.map(({ key, descending }) => (descending ? `${key}:desc` : key)).join(',');
}

const WORDS = new Set(['text', 'name', 'core', 'shape', 'id', 'rank', 'device', 'step', 'time']);

/** Figures start with the longest, words and positions at their beginning. */
export function startsDescending(column: Column): boolean {
  return !WORDS.has(column.kind);
}

/** A click makes `column` the only sort or turns it round; with shift it becomes the second. */
export function clickSort(now: readonly SortKey[], column: Column, shift: boolean): SortKey[] {
  const old = now.find((sort) => sort.key === column.key);
  const next = {
    key: column.key,
    descending: old ? !old.descending : startsDescending(column),
  };
  if (!shift) return [next];
  const first = now[0];
  if (!first || first.key === column.key) return [next, ...now.slice(1)];
  return [first, next];
}
