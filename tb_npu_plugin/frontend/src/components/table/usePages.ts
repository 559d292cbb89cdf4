/** The pages of a table for what the address asks, with the old ones on screen until then. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { GoneError, get, type Query, type Reply } from '../../api/client';
import type { Table } from '../../api/types.gen';
import { Asker } from '../../state/asker';
import { noteGone, publishMeta, version } from '../../state/session';
import { Pages } from './pages';

export interface PagesState<R extends Reply> {
  pages: Pages<R> | null;
  /** The question that `pages` answer. */
  asked: string;
  error: Error | null;
  /** `pages` answer another question than the one that is asked now. */
  stale: boolean;
}

interface Held<R extends Reply> {
  pages: Pages<R> | null;
  asked: string;
  error: Error | null;
  /** The question that `error` belongs to. */
  failed: string;
}

/**
 * `query` without offset and limit; `startRow` is asked anew whenever the pages are: the row to
 * begin at, so that a reload keeps its place and another sort starts at the top.
 */
export function usePages<R extends Reply>(
  route: string,
  query: Query,
  tableOf: (reply: R) => Table,
  startRow: (sameQuestion: boolean) => number,
): PagesState<R> {
  const question = JSON.stringify([route, query]);
  const at = version.value;
  const [held, hold] = useState<Held<R>>({ pages: null, asked: '', error: null, failed: '' });
  const shown = useRef(held);
  const asker = useRef(new Asker()).current;
  const show = (next: Held<R>) => {
    shown.current = next;
    hold(next);
  };

  // The question stands for route and query; a new version asks again.
  useEffect(() => {
    asker.ask(question, async (signal) => {
      const next = new Pages<R>(
        (offset, limit, stop) => get<R>(route, { ...query, offset, limit }, stop),
        tableOf,
      );
      signal.addEventListener('abort', () => next.stop());
      try {
        const first = await next.start(startRow(shown.current.asked === question));
        if (signal.aborted) return;
        shown.current.pages?.stop();
        publishMeta(first.meta);
        show({ pages: next, asked: question, error: null, failed: '' });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof GoneError) noteGone();
        show({ ...shown.current, error: error as Error, failed: question });
      }
    });
  }, [question, at]);

  useEffect(
    () => () => {
      asker.cancel();
      shown.current.pages?.stop();
    },
    [],
  );
  const error = held.failed === question ? held.error : null;
  return { pages: held.pages, asked: held.asked, error, stale: held.asked !== question };
}
