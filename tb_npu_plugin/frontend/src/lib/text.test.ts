import { describe, expect, it } from 'vitest';
import { columnsOf, elide, visible, visibleLines } from './text';

describe('visible', () => {
  it('shows what would reorder or hide text', () => {
    expect(visible('a\u202eb')).toBe('a⟨U+202E⟩b');
    expect(visible('a\u200bb')).toBe('a⟨U+200B⟩b');
    expect(visible('a\nb\tc\0')).toBe('a⏎b⇥c␀');
  });

  it('leaves names, markup and other scripts alone', () => {
    for (const name of ['aclnnMatmul_MatMulV2', '<img src=x>', '算子 é 🚀', 'שלום']) {
      expect(visible(name)).toBe(name);
    }
  });
});

it('keeps the lines of a call stack', () => {
  expect(visibleLines('a.py(1): f\r\nb.py(2): g\n\u202e')).toBe('a.py(1): f\nb.py(2): g\n⟨U+202E⟩');
});

describe('elide', () => {
  it('keeps both ends', () => {
    expect(elide('abcdefghij', 7)).toBe('abcd…ij');
    expect(elide('abc', 7)).toBe('abc');
  });

  it('bounds a name of 20,000 characters', () => {
    expect(elide('x'.repeat(20_000), 300)).toHaveLength(300);
  });

  it('never cuts a character in half', () => {
    const cut = elide('🚀'.repeat(20), 8);
    expect(cut).not.toMatch(/[\ud800-\udbff](?![\udc00-\udfff])/);
    expect(cut).not.toMatch(/(?<![\ud800-\udbff])[\udc00-\udfff]/);
  });
});

it('counts wide characters twice', () => {
  expect(columnsOf('Rank 卡')).toBe(7);
});
