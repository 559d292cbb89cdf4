/** How the tree must stand for a track to be seen. */
import type { TimelineRank, TimelineTrack } from '../../api/types.gen';
import {
  DEEP,
  isFolded,
  matches,
  OPEN_RANKS,
  processesOf,
  processKey,
  rankKey,
  type TreeState,
  trackKey,
} from './rows';

/** With what must be open, and shown, for a track to be seen. */
export function revealed(
  state: TreeState,
  ranks: readonly TimelineRank[],
  tracks: readonly TimelineTrack[],
  id: number,
  depth: number,
): TreeState {
  const track = tracks.find((each) => each.id === id);
  if (!track) return state;
  const hidden = new Set([...state.hidden].filter((each) => each !== id));
  const filter = matches(track, ranks, state) ? state.filter : '';
  const next = { ...state, hidden, filter, toggled: new Set(state.toggled) };
  const open = (key: string, byDefault: boolean) => {
    if (!isFolded(key, byDefault, next)) return;
    if (next.toggled.has(key)) next.toggled.delete(key);
    else next.toggled.add(key);
  };
  if (ranks.length > 1) open(rankKey(track.part), ranks.length > OPEN_RANKS);
  const own = tracks.filter((each) => each.part === track.part && !hidden.has(each.id));
  const [first] = processesOf(own).find((each) => each.some((one) => one.id === id)) ?? [];
  if (first) open(processKey(first.id), false);
  if (depth > 0) open(trackKey(id), track.depths > DEEP);
  return next;
}
