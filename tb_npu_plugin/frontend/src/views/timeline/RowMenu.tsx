/** What can be done with a row: pin, hide, move, and how far a rank is moved in time. */
import { useState } from 'preact/hooks';
import { ordered, type TrackRow } from '../../charts/timeline/rows';
import { Icon } from '../../components/Icon';
import { Popover } from '../../components/Popover';
import { t } from '../../i18n';
import { exact } from '../../lib/format';
import { parseInstant } from '../../lib/instant';
import { navigate } from '../../state/route';
import { formatShifts } from './link';
import type { Board } from './useBoard';

export function RowMenu({ board, row }: { board: Board; row: TrackRow }) {
  const words = t.value.timeline;
  const label = `${words.more}: ${row.label}`;
  return (
    <span class="tl-row-menu">
      <Popover label={<Icon name="more" />} title={label} width={220}>
        {(close) => <Acts board={board} row={row} close={close} />}
      </Popover>
    </span>
  );
}

function Acts({ board, row, close }: { board: Board; row: TrackRow; close: () => void }) {
  const words = t.value.timeline;
  const { state, data } = board;
  const [id = -1] = row.below;
  const pinned = state.pinned.includes(id);
  const siblings = siblingsOf(board, row);
  const at = siblings.indexOf(id);
  const act = (text: string, run: () => void, disabled = false) => (
    <button
      type="button"
      class="option"
      disabled={disabled}
      onClick={() => {
        close();
        run();
      }}
    >
      <span>{text}</span>
    </button>
  );
  const hide = (ids: readonly number[]) =>
    board.change({ hidden: new Set([...state.hidden, ...ids]) });
  const move = (before: number) => {
    const moves = state.moves.filter(([moved]) => moved !== id);
    board.change({ moves: [...moves, [id, before]] });
  };
  const keep = new Set(row.below);
  return (
    <div class="option-list">
      {row.kind === 'track' &&
        act(pinned ? words.unpin : words.pin, () =>
          board.change({
            pinned: pinned ? state.pinned.filter((each) => each !== id) : [...state.pinned, id],
          }),
        )}
      {row.kind === 'track' && !row.pinned && (
        <>
          {act(words.up, () => move(siblings[at - 1] ?? -1), at <= 0)}
          {act(words.down, () => move(siblings[at + 2] ?? -1), at < 0 || at >= siblings.length - 1)}
        </>
      )}
      {act(words.hide, () => hide(row.below))}
      {act(words.only, () =>
        hide(data.tracks.filter((each) => !keep.has(each.id)).map((each) => each.id)),
      )}
      {row.kind === 'rank' && <Offset board={board} part={row.part} />}
    </div>
  );
}

/** The tracks of its process, in the order in which they stand. */
function siblingsOf({ data, state }: Board, row: TrackRow): number[] {
  const own = data.tracks.find((track) => track.id === row.below[0]);
  if (!own) return [];
  const same = data.tracks.filter(
    (track) =>
      track.part === own.part && track.process === own.process && !state.hidden.has(track.id),
  );
  return ordered(same, state.moves).map((track) => track.id);
}

function Offset({ board, part }: { board: Board; part: number }) {
  const words = t.value.timeline;
  const own = board.ownShifts.get(part) ?? 0;
  const [text, setText] = useState(own === 0 ? '' : `${own}ns`);
  const parsed = parseInstant(text);
  const set = (ns: number) =>
    navigate({ shift: formatShifts(new Map([...board.ownShifts, [part, ns]])) }, 'replace');
  return (
    <form
      class="tl-offset"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() === '') set(0);
        else if (parsed !== null) set(Math.round(parsed));
      }}
    >
      <label>
        {words.offset}
        <input
          class="input"
          value={text}
          placeholder={words.offsetHint}
          aria-invalid={text.trim() !== '' && parsed === null}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="panel-foot">
        <span class="quiet">{own === 0 ? words.offsetReset : exact(own, 'ns')}</span>
        <button type="submit" class="button">
          {t.value.pick.apply}
        </button>
      </p>
    </form>
  );
}
