import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Column } from '../../api/types.gen';
import { FilterBox } from './FilterBox';
import { addTerm, faultAt, termFor, withoutTerm } from './filter';

const root = document.createElement('div');
document.body.append(root);
const error = { code: 'bad-filter', message: 'No such column', hint: 'Use dur', position: 4 };
const draw = (props: Partial<Parameters<typeof FilterBox>[0]>) =>
  act(() =>
    render(
      <FilterBox value="" error={null} onChange={() => {}} onLeave={() => {}} {...props} />,
      root,
    ),
  );

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  render(null, root);
});

describe('the filter box', () => {
  it('marks the character at fault and says what is wrong', () => {
    draw({ value: 'foo durr>1us', error });
    const shown = root.querySelector('.filter-fault code');
    expect(shown?.textContent).toBe('foo durr>1us');
    expect(root.querySelector('mark')?.textContent).toBe('d');
    expect(root.querySelector('[role=alert]')?.textContent).toContain('No such column');
    expect(root.querySelector('[role=alert]')?.textContent).toContain('Use dur');
    expect(root.querySelector('input')?.getAttribute('aria-invalid')).toBe('true');
  });

  it('marks the end where something is missing', () => {
    draw({ value: 'dur>', error: { ...error, position: 4 } });
    expect(root.querySelector('mark')?.textContent).toBe('\u00a0');
  });

  it('shows no mark where there is no position', () => {
    draw({ value: 'x', error: { ...error, position: null } });
    expect(root.querySelector('mark')).toBeNull();
    expect(root.querySelector('[role=alert]')).not.toBeNull();
  });

  it('shows a filter as text', () => {
    draw({ value: '<b>x</b>', error: { ...error, position: 0 } });
    expect(root.querySelector('.filter-fault b')).toBeNull();
  });

  it('waits for a pause in typing', () => {
    const onChange = vi.fn();
    draw({ onChange });
    const input = root.querySelector('input') as HTMLInputElement;
    for (const text of ['M', 'Ma', 'Mat']) {
      act(() => {
        input.value = text;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      });
      vi.advanceTimersByTime(100);
    }
    expect(onChange).not.toHaveBeenCalled();
    act(() => void vi.advanceTimersByTime(300));
    expect(onChange.mock.calls).toEqual([['Mat']]);
  });

  it('follows the address', () => {
    draw({ value: 'a' });
    draw({ value: 'b' });
    expect((root.querySelector('input') as HTMLInputElement).value).toBe('b');
  });
});

describe('terms', () => {
  const column = (kind: Column['kind'], key = 'k') => ({ kind, key }) as Column;

  it('counts characters as the backend does', () => {
    expect(faultAt('🚀🚀x', 2)).toEqual({ before: '🚀🚀', at: 'x', after: '' });
    expect(faultAt('ab', 99)).toEqual({ before: 'ab', at: '', after: '' });
  });

  it('filters by a value, quoted where needed', () => {
    expect(termFor(column('name'), 'MatMulV2')).toBe('k=MatMulV2');
    expect(termFor(column('name'), 'a b')).toBe('k="a b"');
    expect(termFor(column('shape'), '1,2;3')).toBe('k=1,2;3');
    expect(termFor(column('text'), 'a"b')).toBe('k="a\\"b"');
    expect(termFor(column('text'), '"a" b\\')).toBe('k="\\"a\\" b\\\\"');
    expect(termFor(column('text'), 'a.py\nb.py')).toBeNull();
    expect(termFor(column('name'), 'x'.repeat(20_000))).toBeNull();
    expect(termFor(column('rank'), 0)).toBe('k=0');
    expect(termFor(column('duration', 'dur_ns'), 12.5)).toBe('dur_ns>=12.5');
    expect(termFor(column('name'), null)).toBe('k=unknown');
  });

  it('adds a term once', () => {
    expect(addTerm('', 'k=1')).toBe('k=1');
    expect(addTerm('Mat ', 'k=1')).toBe('Mat k=1');
    expect(addTerm('Mat k=1', 'k=1')).toBe('Mat k=1');
    expect(addTerm('k=12', 'k=1')).toBe('k=12 k=1');
    expect(withoutTerm('Mat k=1 dur>1us', 'k=1')).toBe('Mat dur>1us');
    expect(withoutTerm('k=12', 'k=1')).toBe('k=12');
  });
});
