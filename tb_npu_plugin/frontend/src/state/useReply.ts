/**
 * One view's reply: the newest question wins, and what is on screen stays until it is answered.
 * Without a route nothing is asked, and nothing held. A reply about a part of what the page shows
 * (`quiet`) says nothing of the page.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { apiUrl, GoneError, get, type Query, type Reply } from '../api/client';
import { Asker } from './asker';
import { noteGone, publishMeta, version } from './session';

export interface ReplyState<R> {
  /** The newest answer; null when the question that is asked now was refused. */
  reply: R | null;
  error: Error | null;
  /** `reply` answers another question than the one that is asked now. */
  stale: boolean;
}

interface Held<R> {
  reply: R | null;
  replyTo: string;
  error: Error | null;
  errorTo: string;
}

const NOTHING = { reply: null, replyTo: '', error: null, errorTo: '' };

export function useReply<R extends Reply>(
  route: string | null,
  query: Query,
  quiet = false,
): ReplyState<R> {
  const [held, hold] = useState<Held<R>>(NOTHING);
  const asker = useRef(new Asker()).current;
  const address = route === null ? '' : apiUrl(route, query);
  const at = version.value;
  // The address stands for the query; a new version asks again.
  useEffect(() => {
    if (route === null) {
      asker.cancel();
      return;
    }
    asker.ask(address, async (signal) => {
      try {
        const reply = await get<R>(route, query, signal);
        if (signal.aborted) return;
        if (!quiet) publishMeta(reply.meta);
        hold({ reply, replyTo: address, error: null, errorTo: '' });
      } catch (error) {
        if (signal.aborted) return;
        if (error instanceof GoneError) noteGone();
        hold((now) => ({ ...now, error: error as Error, errorTo: address }));
      }
    });
  }, [address, at]);
  useEffect(() => () => asker.cancel(), []);
  if (route === null) return { reply: null, error: null, stale: false };
  const error = held.errorTo === address ? held.error : null;
  const stale = held.replyTo !== address;
  return { reply: error && stale ? null : held.reply, error, stale };
}
