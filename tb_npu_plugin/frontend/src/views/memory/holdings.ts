/** The parts of what was alive: what lay there before the capture, then operators, largest first. */
import type { MemoryAlive } from '../../api/types.gen';

export interface Holding {
  key: string;
  kind: 'unseen' | 'operator' | 'others';
  name: string | null;
  bytes: number;
  count: number | null;
  /** Of `others`: how many there are. */
  operators: number;
  concept: 'unseen' | 'allocated';
  /** Opacity: the larger, the stronger. */
  strength: number;
}

const SHOWN = 8;

export function holdingsOf(alive: MemoryAlive): Holding[] {
  const all = alive.operators.slice(0, SHOWN);
  const operators = all.map(
    (holder, at): Holding => ({
      key: `o${at}`,
      kind: 'operator',
      name: holder.name,
      bytes: holder.size_bytes,
      count: holder.count,
      operators: 1,
      concept: 'allocated',
      strength: round(1 - (0.7 * at) / SHOWN),
    }),
  );
  const held = all.reduce((sum, holder) => sum + holder.size_bytes, 0);
  const counted = all.reduce((sum, holder) => sum + holder.count, 0);
  const rest: Holding = {
    key: 'others',
    kind: 'others',
    name: null,
    bytes: alive.seen_bytes - held,
    count: alive.seen_count - counted,
    operators: alive.operator_count - all.length,
    concept: 'allocated',
    strength: 0.2,
  };
  const unseen: Holding = {
    key: 'unseen',
    kind: 'unseen',
    name: null,
    bytes: alive.unseen_bytes ?? 0,
    count: null,
    operators: 0,
    concept: 'unseen',
    strength: 1,
  };
  return [unseen, ...operators, ...(rest.operators > 0 ? [rest] : [])].filter(
    (holding) => holding.bytes > 0,
  );
}

const round = (value: number) => Math.round(value * 100) / 100;

/** What a bar is long. */
export function lengthOf(alive: MemoryAlive): number {
  return alive.total_bytes ?? alive.seen_bytes;
}
