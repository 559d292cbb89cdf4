import { describe, expect, it } from 'vitest';
import type { Reply } from '../../api/client';
import type { Table } from '../../api/types.gen';
import { PAGE_ROWS, Pages } from './pages';

interface Page extends Reply {
  data: Table;
}

function fake(total: number) {
  const asked: number[] = [];
  const held: (() => void)[] = [];
  let hold = false;
  const load = (offset: number, limit: number, signal: AbortSignal): Promise<Page> =>
    new Promise((resolve, reject) => {
      asked.push(offset);
      signal.addEventListener('abort', () => reject(new DOMException('stop', 'AbortError')));
      const answer = () => {
        const rows = Math.max(0, Math.min(limit, total - offset));
        const n = Array.from({ length: rows }, (_, i) => offset + i);
        resolve({ data: { total, offset, values: { n } } as unknown as Table, meta: {} as never });
      };
      if (hold) held.push(answer);
      else answer();
    });
  const pages = new Pages<Page>(load, (reply) => reply.data);
  return {
    pages,
    asked,
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
    hold: () => (hold = true),
  };
}

const settle = () => new Promise((resolve) => setTimeout(resolve));
const cell = (pages: Pages<Page>, row: number) => {
  const at = pages.at(row);
  return at ? at.table.values.n?.[at.index] : null;
};

describe('Pages', () => {
  it('starts at the page of the row that the link names', async () => {
    const { pages, asked } = fake(1_000_000);
    await pages.start(512_345);
    expect(asked).toEqual([512_300]);
    expect(cell(pages, 512_345)).toBe(512_345);
    expect(cell(pages, 0)).toBeNull();
  });

  it('shows the end of a table that has become shorter', async () => {
    const { pages, asked } = fake(150);
    await pages.start(900);
    expect(asked).toEqual([900, 100]);
    expect(cell(pages, 149)).toBe(149);
    expect(pages.at(150)).toBeNull();
  });

  it('fetches what is on screen, once', async () => {
    const { pages, asked } = fake(10_000);
    await pages.start(0);
    pages.want(90, 130);
    pages.want(90, 130);
    await settle();
    pages.want(90, 130);
    expect(asked).toEqual([0, 100]);
    expect(cell(pages, 129)).toBe(129);
  });

  it('cancels what scrolled away before it came', async () => {
    const { pages, asked, hold, release } = fake(10_000);
    await pages.start(0);
    hold();
    pages.want(500, 520);
    pages.want(9_000, 9_020);
    release();
    await settle();
    expect(asked).toEqual([0, 500, 9_000]);
    expect(pages.at(500)).toBeNull();
    expect(cell(pages, 9_000)).toBe(9_000);
  });

  it('keeps a bounded number of pages, the nearest ones', async () => {
    const { pages } = fake(1_000_000);
    await pages.start(0);
    for (let page = 1; page < 100; page++) {
      pages.want(page * PAGE_ROWS, page * PAGE_ROWS + 20);
      await settle();
    }
    expect(pages.loaded().length).toBeLessThanOrEqual(60);
    expect(cell(pages, 99 * PAGE_ROWS)).toBe(9_900);
    expect(pages.at(0)).toBeNull();
  });
});
