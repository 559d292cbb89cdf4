/** Which ranks: all, some by click, or ranges typed in; sorted by number, from 1 to thousands. */
import { useRef } from 'preact/hooks';
import type { RecordingInfo } from '../api/types.gen';
import { Popover } from '../components/Popover';
import { t } from '../i18n';
import { formatRanges, parseRanges } from '../lib/ranges';
import { navigate, params } from '../state/route';
import { RangeInput } from './RangeInput';

const UNKNOWN = 'unknown';

export function RankPicker({ recording }: { recording: RecordingInfo }) {
  const words = t.value;
  return (
    <Popover caption={words.bar.rank} label={label(recording)} title={words.bar.rank} width={352}>
      {(close) => <Choice recording={recording} close={close} />}
    </Popover>
  );
}

function Choice({ recording, close }: { recording: RecordingInfo; close: () => void }) {
  const words = t.value;
  const numbers = numbersOf(recording);
  const chosen = params.value.rank ?? 'all';
  const all = chosen === 'all';
  const picked = new Set(all || chosen === UNKNOWN ? [] : parseRanges(chosen).values);
  // However many ranks are clicked, Back undoes the choice in one step.
  const pushed = useRef(false);
  const choose = (rank: string | null) => {
    navigate({ rank, offset: null }, pushed.current ? 'replace' : 'push');
    pushed.current = true;
  };
  const set = (ranks: Iterable<number>) => {
    const list = [...ranks];
    choose(list.length === 0 || list.length === numbers.length ? null : formatRanges(list));
  };
  return (
    <>
      {numbers.length > 8 && (
        <RangeInput
          key={chosen}
          value={all || chosen === UNKNOWN ? '' : chosen}
          there={numbers}
          onChange={set}
        />
      )}
      <div class="chip-row">
        <button type="button" class="chip wide" aria-pressed={all} onClick={() => choose(null)}>
          {words.pick.allRanks(recording.ranks.length)}
        </button>
        {recording.ranks.includes(null) && (
          <button
            type="button"
            class="chip wide"
            aria-pressed={chosen === UNKNOWN}
            title={workers(recording)}
            onClick={() => choose(UNKNOWN)}
          >
            {words.pick.unknownRank}
          </button>
        )}
      </div>
      <Chips numbers={numbers} picked={picked} onChange={set} />
      <footer class="panel-foot">
        <span class="quiet">{numbers.length > 2 ? words.pick.rankHint : ''}</span>
        <button type="button" class="button" onClick={close}>
          {words.close}
        </button>
      </footer>
    </>
  );
}

function numbersOf(recording: RecordingInfo): number[] {
  return recording.ranks.filter((rank): rank is number => rank !== null).sort((a, b) => a - b);
}

interface ChipsProps {
  numbers: readonly number[];
  picked: ReadonlySet<number>;
  onChange: (ranks: Iterable<number>) => void;
}

function Chips({ numbers, picked, onChange }: ChipsProps) {
  const last = useRef<number | null>(null);
  const click = (rank: number, shift: boolean) => {
    const from = last.current;
    last.current = rank;
    const next = new Set(picked);
    if (shift && from !== null) {
      const [low, high] = from < rank ? [from, rank] : [rank, from];
      for (const each of numbers) if (each >= low && each <= high) next.add(each);
    } else if (!next.delete(rank)) {
      next.add(rank);
    }
    onChange(next);
  };
  return (
    <div class="chips">
      {numbers.map((rank) => (
        <button
          type="button"
          key={rank}
          class="chip"
          aria-pressed={picked.has(rank)}
          onClick={(event) => click(rank, event.shiftKey)}
        >
          {rank}
        </button>
      ))}
    </div>
  );
}

function label(recording: RecordingInfo): string {
  const words = t.value.pick;
  const chosen = params.value.rank ?? 'all';
  if (chosen === UNKNOWN) return words.unknownRank;
  if (chosen !== 'all') {
    const { values } = parseRanges(chosen);
    const short = formatRanges(values, ', ', '–');
    return short.length > 20 ? words.manyRanks(values.length) : short;
  }
  const found = recording.ranks.length;
  const world = recording.world_size;
  if (world !== null && world > found) return words.allOf(found, world);
  if (found === 1) return String(recording.ranks[0] ?? words.unknownRank);
  return words.allRanks(found);
}

/** Captures of unknown rank go by the worker that wrote them. */
function workers(recording: RecordingInfo): string {
  const unknown = recording.captures.filter((capture) => capture.rank === null);
  return unknown.map((capture) => capture.label).join(', ');
}
