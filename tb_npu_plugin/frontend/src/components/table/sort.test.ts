import { describe, expect, it } from 'vitest';
import type { Column } from '../../api/types.gen';
import { clickSort, formatSort, parseSort } from './sort';

const column = (key: string, kind: Column['kind']): Column => ({
  key,
  kind,
  label: key,
  description: '',
  shown: true,
  sortable: true,
  concept: null,
});
const dur = column('dur_ns', 'duration');
const name = column('name', 'name');

const click = (sort: string, target: Column, shift = false) =>
  formatSort(clickSort(parseSort(sort), target, shift));

describe('sort', () => {
  it('reads and writes the parameter', () => {
    expect(parseSort('total_ns:desc,name')).toEqual([
      { key: 'total_ns', descending: true },
      { key: 'name', descending: false },
    ]);
    expect(formatSort(parseSort('total_ns:desc,name'))).toBe('total_ns:desc,name');
    expect(parseSort('')).toEqual([]);
  });

  it('starts with the longest figure and the first name', () => {
    expect(click('', dur)).toBe('dur_ns:desc');
    expect(click('', name)).toBe('name');
  });

  it('turns round on the second click and replaces on another column', () => {
    expect(click('dur_ns:desc', dur)).toBe('dur_ns');
    expect(click('dur_ns', dur)).toBe('dur_ns:desc');
    expect(click('dur_ns:desc,name', name)).toBe('name:desc');
  });

  it('adds a second sort with shift', () => {
    expect(click('dur_ns:desc', name, true)).toBe('dur_ns:desc,name');
    expect(click('dur_ns:desc,name', name, true)).toBe('dur_ns:desc,name:desc');
    expect(click('dur_ns:desc,name', dur, true)).toBe('dur_ns,name');
    expect(click('', dur, true)).toBe('dur_ns:desc');
  });
});
