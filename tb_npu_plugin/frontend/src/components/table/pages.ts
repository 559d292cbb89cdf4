/**
 * The pages of one table for one question, fetched as they scroll into view. Pages that scrolled
 * out before they arrived are cancelled, and only so many are kept: a table of millions of rows
 * costs the browser what is on screen.
 */
import { signal } from '@preact/signals';
import type { Reply } from '../../api/client';
import type { Table } from '../../api/types.gen';

export const PAGE_ROWS = 100;
const KEPT_PAGES = 60;
const RETRY_MS = 2_000;

export type Load<R> = (offset: number, limit: number, signal: AbortSignal) => Promise<R>;

export interface RowAt<R> {
  reply: R;
  table: Table;
  /** Index into the page's values. */
  index: number;
}

export class Pages<R extends Reply> {
  /** Grows whenever a page arrives. */
  readonly revision = signal(0);
  /** The page that arrived first; total, columns and sort are the same on all. */
  first: R | null = null;
  private readonly pages = new Map<number, R>();
  private readonly running = new Map<number, AbortController>();
  private readonly failedAt = new Map<number, number>();
  private stopped = false;

  constructor(
    private readonly load: Load<R>,
    readonly tableOf: (reply: R) => Table,
  ) {}

  /** Fetches the page that holds `row`; where the table ends before it, the last page. */
  async start(row: number): Promise<R> {
    const page = Math.floor(Math.max(0, row) / PAGE_ROWS);
    let reply = await this.fetchPage(page);
    const { total } = this.tableOf(reply);
    if (page > 0 && page * PAGE_ROWS >= total) {
      const last = Math.max(0, Math.ceil(total / PAGE_ROWS) - 1);
      reply = await this.fetchPage(last);
    }
    this.first = reply;
    return reply;
  }

  at(row: number): RowAt<R> | null {
    const reply = this.pages.get(Math.floor(row / PAGE_ROWS));
    if (!reply) return null;
    const table = this.tableOf(reply);
    const index = row - table.offset;
    return index >= 0 && row < table.total ? { reply, table, index } : null;
  }

  loaded(): R[] {
    return [...this.pages.values()];
  }

  /** The rows from `first` to before `end` are on screen, or about to be. */
  want(first: number, end: number): void {
    const total = this.first ? this.tableOf(this.first).total : 0;
    const last = Math.min(end, total) - 1;
    if (this.stopped || last < 0) return;
    const from = Math.floor(Math.max(0, first) / PAGE_ROWS);
    const to = Math.floor(last / PAGE_ROWS);
    for (const [page, controller] of this.running) {
      if (page < from || page > to) controller.abort();
    }
    for (let page = from; page <= to; page++) {
      const recently = Date.now() - (this.failedAt.get(page) ?? 0) < RETRY_MS;
      if (this.pages.has(page) || this.running.has(page) || recently) continue;
      this.fetchPage(page).catch((error: Error) => {
        if (error.name === 'AbortError') return;
        this.failedAt.set(page, Date.now());
        setTimeout(() => this.revision.value++, RETRY_MS); // the table asks again
      });
    }
  }

  stop(): void {
    this.stopped = true;
    for (const controller of this.running.values()) controller.abort();
  }

  private async fetchPage(page: number): Promise<R> {
    const controller = new AbortController();
    this.running.set(page, controller);
    try {
      const reply = await this.load(page * PAGE_ROWS, PAGE_ROWS, controller.signal);
      if (controller.signal.aborted) throw new DOMException('superseded', 'AbortError');
      this.keep(page, reply);
      return reply;
    } finally {
      if (this.running.get(page) === controller) this.running.delete(page);
    }
  }

  private keep(page: number, reply: R): void {
    this.pages.set(page, reply);
    while (this.pages.size > KEPT_PAGES) {
      const far = [...this.pages.keys()].reduce((a, b) =>
        Math.abs(a - page) >= Math.abs(b - page) ? a : b,
      );
      this.pages.delete(far);
    }
    this.revision.value++;
  }
}
