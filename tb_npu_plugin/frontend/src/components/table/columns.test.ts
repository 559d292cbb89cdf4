import { describe, expect, it } from 'vitest';
import type { Column } from '../../api/types.gen';
import { en } from '../../i18n/en';
import { plain } from '../../lib/format';
import { fullShare, viewColumn, viewColumns } from './columns';

const view = (kind: Column['kind'], values: unknown[], full?: number) =>
  viewColumn(
    { key: 'k', label: 'Label', kind, description: '', shown: true, sortable: true, concept: null },
    values,
    en,
    full,
  );

describe('viewColumn', () => {
  it('puts one unit into the head and none into the cells', () => {
    const column = view('duration', [1_959_000, 6_500, null, 0]);
    expect(column.unit).toBe('µs');
    expect([1_959_000, 6_500, null, 0].map(column.text)).toEqual(['1,959.00', '6.50', '–', '0']);
  });

  it('gives each figure its unit where the range is too wide', () => {
    const column = view('duration', [2e9, 1e3]);
    expect(column.unit).toBe('');
    expect(plain(column.text(2e9))).toBe('2.00 s');
    expect(plain(column.text(1e3))).toBe('1.00 µs');
  });

  it('hovers with the exact value in the base unit', () => {
    expect(plain(view('duration', [1e6]).hover(1234567.5))).toBe('1,234,567.5 ns');
    expect(plain(view('bytes', [1e6]).hover(4096))).toBe('4,096 B');
    expect(view('ratio', [0.5]).hover(0.123456)).toBe('0.123456');
  });

  it('prints 25 % as 25', () => {
    expect(plain(view('ratio', [0.25]).text(0.25))).toBe('25.0 %');
  });

  it('keeps unknown, outside and zero apart', () => {
    expect(view('step', []).text(null)).toBe('outside');
    expect(view('rank', []).text(null)).toBe('unknown');
    expect(view('rank', []).text(0)).toBe('0');
    expect(view('int', []).text(null)).toBe('–');
    expect(view('int', []).text(0)).toBe('0');
    expect(view('text', []).text('')).toBe('–');
  });

  it('never groups the digits of an id', () => {
    expect(view('id', []).text(1234567)).toBe('1234567');
    expect(view('id', []).text('9007199254740993')).toBe('9007199254740993');
    expect(view('step', []).text(10000)).toBe('10000');
  });

  it('draws share bars against a stated full cell', () => {
    const column = view('ratio', [0.22, 0.1], 0.25);
    expect(column.share?.(0.25)).toBe(1);
    expect(column.share?.(0.125)).toBe(0.5);
    expect(column.share?.(null)).toBe(0);
    expect(view('ratio', [0.9, 3]).share?.(3)).toBe(1);
    expect(view('duration', [1]).share).toBeNull();
  });

  it('draws all shares of a table to one scale', () => {
    const ratio = { ...view('ratio', []).column, key: 'a' };
    const shares: Record<string, number[]> = { a: [0.065], b: [0.747] };
    const views = viewColumns([ratio, { ...ratio, key: 'b' }], (c) => shares[c.key] ?? [], en);
    expect(views.map((each) => each.share?.(shares[each.column.key]?.[0]))).toEqual([0.065, 0.747]);
    expect([fullShare([0.22]), fullShare([]), fullShare([0.6, 2])]).toEqual([0.25, 0.05, 1]);
  });

  it('bounds the width whatever the text', () => {
    expect(view('name', ['x'.repeat(20_000)]).width).toBeLessThanOrEqual(370);
    expect(view('text', ['算子'.repeat(100)]).width).toBeLessThanOrEqual(260);
  });
});
