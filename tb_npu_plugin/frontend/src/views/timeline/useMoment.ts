/** A door from a table leads to a moment and a name: the slice that is meant is found and shown. */
import { useEffect } from 'preact/hooks';
import { get } from '../../api/client';
import type { SearchReply, SliceRef } from '../../api/types.gen';
import { kept } from '../../charts/timeline/span';
import { selectionQuery } from '../../state/query';
import { navigate, params } from '../../state/route';
import { afterBase } from './model';
import type { Board } from './useBoard';

/** What is shown around a moment without a name. */
const AROUND = 1e6;

export function useMoment(board: Board): void {
  const { at, name } = params.value;
  const { base_ns: base } = board.data;
  useEffect(() => {
    const time = afterBase(at, base);
    if (time === null) return;
    const stop = new AbortController();
    const show = () => board.stage.current?.show(kept([time - AROUND, time + AROUND], board.whole));
    const done = () => navigate({ at: null, name: null }, 'replace');
    if (!name) {
      show();
      done();
      return;
    }
    const query = { ...selectionQuery(), find: name, at: Math.floor(time) - 1, limit: 1 };
    get<SearchReply>('timeline/search', query, stop.signal).then(
      ({ data }) => {
        const slice = nearest(time, data.previous, data.next);
        if (slice) board.reveal(slice);
        else show();
        done();
      },
      () => {
        if (stop.signal.aborted) return;
        show();
        done();
      },
    );
    return () => stop.abort();
  }, [at, name, base]);
}

export function nearest(
  time: number,
  before: SliceRef | null,
  after: SliceRef | null,
): SliceRef | null {
  if (!before || !after) return before ?? after;
  return time - before.start < after.start - time ? before : after;
}
