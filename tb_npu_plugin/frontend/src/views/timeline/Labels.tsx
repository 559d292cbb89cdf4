/** The names of the rows: the tree that folds, and what can be done with each. */
import { rankKey, type TrackRow } from '../../charts/timeline/rows';
import { Icon } from '../../components/Icon';
import { t } from '../../i18n';
import { formatDuration } from '../../lib/format';
import { visible } from '../../lib/text';
import { params } from '../../state/route';
import { alignmentOf } from './model';
import { RowMenu } from './RowMenu';
import type { Board } from './useBoard';

export function Labels({ board, rows }: { board: Board; rows: readonly TrackRow[] }) {
  return (
    <>
      {rows.map((row) => (
        <Label key={row.key} board={board} row={row} />
      ))}
    </>
  );
}

function Label({ board, row }: { board: Board; row: TrackRow }) {
  const words = t.value.timeline;
  const { state } = board;
  const [track] = row.tracks;
  const deep = row.kind === 'track' && track && track.depths + track.counters.length > 1;
  const folds = row.kind !== 'track' || deep;
  const key = row.pinned ? `t${track?.id}` : row.key;
  const toggle = () => {
    const toggled = new Set(state.toggled);
    if (toggled.has(key)) toggled.delete(key);
    else toggled.add(key);
    board.change({ toggled });
  };
  const name = visible(row.label);
  return (
    <div
      class={`tl-name tl-${row.kind}${row.pinned ? ' tl-pinned' : ''}`}
      style={`top:${row.top}px;height:${row.height}px;padding-left:${4 + row.level * 10}px`}
    >
      {folds ? (
        <button
          type="button"
          class="tl-fold"
          aria-expanded={!row.folded}
          title={row.folded ? words.open : words.fold}
          onClick={toggle}
        >
          <Icon name={row.folded ? 'right' : 'down'} size={12} />
          <bdi title={name}>{name || '–'}</bdi>
        </button>
      ) : (
        <span class="tl-fold tl-plain">
          {row.pinned && <Icon name="pin" size={12} />}
          <bdi title={name}>{name || '–'}</bdi>
        </span>
      )}
      {row.kind === 'rank' && <Shift board={board} part={row.part} />}
      <RowMenu board={board} row={row} />
    </div>
  );
}

/** By how much a rank's times are moved; said also where the alignment cannot tell. */
function Shift({ board, part }: { board: Board; part: number }) {
  const words = t.value.timeline;
  const by = board.shifts.get(part) ?? 0;
  const alignment = alignmentOf(board.data, params.value.align);
  const unknown = alignment !== undefined && alignment.shifts[part] === null;
  if (unknown) {
    return (
      <span class="quiet" title={words.unaligned}>
        –
      </span>
    );
  }
  if (by === 0) return null;
  const text = `${by > 0 ? '+' : ''}${formatDuration(by)}`;
  return (
    <span class="tl-shift quiet" title={words.shiftOf(text)}>
      {text}
    </span>
  );
}

/** Above the names: what to find among them, and what is hidden. */
export function Corner({ board }: { board: Board }) {
  const words = t.value.timeline;
  const { tree, state, data } = board;
  const several = data.ranks.length > 1;
  return (
    <div class="tl-corner">
      <input
        type="search"
        class="input"
        placeholder={words.filterTracks}
        aria-label={words.filterTracks}
        value={state.filter}
        onInput={(event) => board.change({ filter: event.currentTarget.value })}
      />
      <div class="tl-corner-foot">
        {tree.hidden > 0 ? (
          <button type="button" class="link" onClick={() => board.change({ hidden: new Set() })}>
            {words.hidden(tree.hidden)}
          </button>
        ) : (
          <>
            <button
              type="button"
              class="link"
              onClick={() => board.change({ toggled: all(board) })}
            >
              {words.foldAll}
            </button>
            <button
              type="button"
              class="link"
              onClick={() =>
                board.change({
                  toggled: new Set(
                    several && data.ranks.length > 2
                      ? data.ranks.map((rank) => rankKey(rank.part))
                      : [],
                  ),
                })
              }
            >
              {words.openAll}
            </button>
          </>
        )}
      </div>
    </div>
  );
}

/** What must be toggled for all to be folded: ranks where there are several, else processes. */
function all({ tree, data }: Board): Set<string> {
  if (data.ranks.length > 2) return new Set();
  if (data.ranks.length > 1) return new Set(data.ranks.map((rank) => rankKey(rank.part)));
  return new Set(tree.rows.filter((row) => row.kind === 'process').map((row) => row.key));
}
