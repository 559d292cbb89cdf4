import { expect, it } from 'vitest';
import type { CommunicationRank } from '../../api/types.gen';
import { lengthNs, piecesOf } from './times';

const rank: CommunicationRank = {
  rank: 0,
  label: 'Rank 0',
  operations: 4,
  incomplete: 0,
  elapse_ns: 100,
  transit_ns: 30,
  wait_ns: 50,
  idle_ns: 20,
  rest_ns: 0,
  synchronization_ns: 40,
  transit_of_elapse_ratio: 0.3,
  wait_of_elapse_ratio: 0.5,
  idle_of_elapse_ratio: 0.2,
  wait_ratio: 0.6,
  synchronization_ratio: 0.5,
  size_bytes: 1,
  not_overlapped_ns: 60,
  links: [],
};

it('marks the synchronization inside the wait', () => {
  expect(piecesOf(rank, 200)).toEqual([
    { part: 'transit', at: 0, width: 0.15 },
    { part: 'synchronization', at: 0.15, width: 0.2 },
    { part: 'wait', at: 0.35, width: 0.05 },
    { part: 'idle', at: 0.39999999999999997, width: 0.1 },
  ]);
});

it('draws nothing of what is unknown, and a synchronization never beyond its wait', () => {
  const unknown = { ...rank, elapse_ns: null, transit_ns: null, wait_ns: 10, idle_ns: null };
  expect(piecesOf(unknown, 100)).toEqual([{ part: 'synchronization', at: 0, width: 0.1 }]);
  expect(lengthNs(unknown)).toBe(10);
});

it('shows what the parts miss of the elapse', () => {
  const short = { ...rank, idle_ns: 5, rest_ns: 15 };
  expect(piecesOf(short, 100).map((piece) => piece.part)).toContain('rest');
  expect(lengthNs(short)).toBe(100);
});
