/** Finds slices: how many there are, and one after another. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import type { SearchReply, SliceRef } from '../../api/types.gen';
import { Icon } from '../../components/Icon';
import { t } from '../../i18n';
import { formatInt } from '../../lib/format';
import { selectionQuery } from '../../state/query';
import { navigate, params } from '../../state/route';
import { useReply } from '../../state/useReply';
import type { Board } from './useBoard';

type Way = 'next' | 'previous';
const TYPED_MS = 350;

export function Search({ board }: { board: Board }) {
  const words = t.value.timeline;
  const find = params.value.find ?? '';
  const [text, setText] = useState(find);
  /** Where to count from: the match that was gone to last. */
  const [at, setAt] = useState<number | null>(null);
  const [found, setFound] = useState<string | null>(null);
  const way = useRef<Way | null>(null);
  const wrapped = useRef(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const from = at ?? Math.round(board.stage.current?.span[0] ?? board.whole[0]) - 1;
  const { reply, error, stale } = useReply<SearchReply>(
    find === '' ? null : 'timeline/search',
    {
      ...selectionQuery(),
      find,
      // A moving view alone is no new question.
      at: at === null ? null : from,
      // Those that begin with the one that was gone to are not passed over.
      after: at === null ? null : found,
      limit: 1,
      tracks: board.tracks,
    },
    true,
  );
  useEffect(() => setText(find), [find]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const ask = (value: string) => {
    clearTimeout(timer.current);
    if (value === find) return;
    setAt(null);
    setFound(null);
    navigate({ find: value }, 'replace');
  };
  const visit = (slice: SliceRef) => {
    way.current = null;
    wrapped.current = false;
    setAt(slice.start);
    setFound(slice.id);
    board.reveal(slice);
  };
  const go = (to: Way) => {
    way.current = to;
    if (at === null) setAt(from);
    act();
  };
  // A question is answered before the next match can be told: the way waits for it
  const act = () => {
    const to = way.current;
    if (!to || !reply || stale || at === null) return;
    const slice = reply.data[to];
    if (slice) visit(slice);
    else if (reply.data.total > 0 && !wrapped.current) {
      wrapped.current = true;
      setFound(null);
      setAt(Math.round(to === 'next' ? board.data.start - 1 : board.data.end + 1));
    } else way.current = null;
  };
  useEffect(act);
  const total = reply?.data.total ?? 0;
  const counted =
    !reply || find === '' ? '' : count(reply, found !== null && at !== null && !stale);
  return (
    <div class="tl-search" role="search">
      <Icon name="search" size={14} />
      <input
        type="search"
        class="input"
        placeholder={words.search}
        aria-label={words.searchLabel}
        aria-invalid={error !== null}
        title={
          error instanceof ApiError ? [error.message, error.body.hint].join(' ') : words.search
        }
        value={text}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setText(value);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => ask(value), TYPED_MS);
        }}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Enter') {
            ask(event.currentTarget.value);
            go(event.shiftKey ? 'previous' : 'next');
          } else if (event.key === 'Escape') {
            event.preventDefault();
            event.currentTarget
              .closest<HTMLElement>('.timeline-view')
              ?.querySelector('canvas')
              ?.focus();
          }
        }}
      />
      <span class="tl-count quiet" aria-live="polite">
        {error ? <span class="problem">{error.message}</span> : counted}
      </span>
      {find !== '' && (
        <>
          <button
            type="button"
            class="icon-button"
            title={words.previous}
            aria-label={words.previous}
            disabled={total === 0}
            onClick={() => go('previous')}
          >
            <Icon name="up" />
          </button>
          <button
            type="button"
            class="icon-button"
            title={words.next}
            aria-label={words.next}
            disabled={total === 0}
            onClick={() => go('next')}
          >
            <Icon name="down" />
          </button>
        </>
      )}
    </div>
  );
}

function count({ data }: SearchReply, visited: boolean): string {
  const words = t.value.timeline;
  if (data.total === 0) return words.noMatch;
  if (visited) return words.matchOf(Math.min(data.total, data.before + 1), data.total);
  return formatInt(data.total);
}
