import { describe, expect, it } from 'vitest';
import type { TimelineRank } from '../../api/types.gen';
import { track } from '../../testing.timeline';
import { revealed } from './reveal';
import { NORMAL, ordered, rowOf, rowsBetween, type TreeState, treeOf } from './rows';

const rank = (part: number): TimelineRank => ({
  part,
  rank: part,
  label: `Rank ${part}`,
  capture_id: `c${part}`,
  start: 0,
  end: 1_000,
});

const STATE: TreeState = {
  toggled: new Set(),
  pinned: [],
  hidden: new Set(),
  moves: [],
  filter: '',
  dense: false,
};

const TRACKS = [
  track(0, { kind: 'python', process: 'Python', label: 'Thread 1', depths: 5 }),
  track(1),
  track(2, { depths: 2 }),
  track(3, { kind: 'overlap', process: 'Overlap', label: 'Computing' }),
];
const labels = (state: Partial<TreeState>, ranks = [rank(0)], tracks = TRACKS) =>
  treeOf(ranks, tracks, { ...STATE, ...state }).rows.map((row) => row.label);

describe('the tree of tracks', () => {
  it('groups them under their processes, one below another', () => {
    const { rows, height } = treeOf([rank(0)], TRACKS, STATE);
    expect(rows.map((row) => row.kind)).toEqual([
      'process',
      'track',
      'process',
      'track',
      'track',
      'process',
      'track',
    ]);
    rows.slice(1).forEach((row, at) => {
      const before = rows[at];
      expect(row.top).toBe((before?.top ?? 0) + (before?.height ?? 0));
    });
    const last = rows[rows.length - 1];
    expect(height).toBe((last?.top ?? 0) + (last?.height ?? 0));
    expect(rows[1]?.height).toBe(5 * NORMAL.depth + NORMAL.gap);
  });

  it('folds a process into one line of what tells most', () => {
    const { rows } = treeOf([rank(0)], TRACKS, { ...STATE, toggled: new Set(['p1']) });
    const folded = rows.find((row) => row.key === 'p1');
    expect(folded?.folded).toBe(true);
    expect(folded?.tracks.map((each) => each.id)).toEqual([1, 2]);
    expect(rows.map((row) => row.label)).not.toContain('Stream 1');
  });

  it('begins with many ranks folded, each a line of its overlap', () => {
    const many = Array.from({ length: 64 }, (_, part) => part);
    const tracks = many.flatMap((part) =>
      TRACKS.map((each) => ({ ...each, id: each.id + part * 10_000, part })),
    );
    const { rows } = treeOf(many.map(rank), tracks, STATE);
    expect(rows).toHaveLength(64);
    expect(rows[5]?.tracks.map((each) => each.kind)).toEqual(['overlap']);
    const opened = treeOf(many.map(rank), tracks, { ...STATE, toggled: new Set(['r5']) });
    expect(opened.rows).toHaveLength(64 + 7);
  });

  it('hides, and says how many', () => {
    const tree = treeOf([rank(0)], TRACKS, { ...STATE, hidden: new Set([1, 2]) });
    expect(tree.rows.map((row) => row.label)).not.toContain('Ascend Hardware');
    expect(tree.hidden).toBe(2);
    expect(tree.left.map((each) => each.id)).toEqual([0, 3]);
  });

  it('shows what the filter finds, wherever it stands', () => {
    expect(labels({ filter: 'hardware 2' })).toEqual(['Ascend Hardware', 'Stream 2']);
    expect(labels({ filter: 'nothing such' })).toEqual([]);
  });

  it('repeats pinned tracks above the others, with all of their name', () => {
    const tree = treeOf([rank(0)], TRACKS, { ...STATE, pinned: [2] });
    expect(tree.pins.map((row) => row.label)).toEqual(['Stream 2 · Ascend Hardware']);
    expect(tree.pinsHeight).toBe(tree.pins[0]?.height);
    expect(tree.rows.map((row) => row.label)).toContain('Stream 2');
  });

  it('moves tracks within their process', () => {
    const ids = (moves: [number, number][]) =>
      ordered([track(1), track(2), track(3)], moves).map((each) => each.id);
    expect(ids([[3, 1]])).toEqual([3, 1, 2]);
    expect(ids([[1, -1]])).toEqual([2, 3, 1]);
    expect(ids([[9, 1]])).toEqual([1, 2, 3]);
  });
});

it('only rows on screen are found', () => {
  const { rows } = treeOf([rank(0)], TRACKS, STATE);
  const second = rows[1];
  if (!second) throw new Error('no row');
  expect(rowsBetween(rows, second.top, second.top + 1)).toEqual([second]);
  expect(rowsBetween(rows, 0, 10_000)).toEqual(rows);
  expect(rowsBetween(rows, 10_000, 20_000)).toEqual([]);
});

describe('revealing a track', () => {
  it('opens what it is folded in, and shows it again', () => {
    const ranks = [0, 1, 2].map(rank);
    const tracks = [0, 1, 2].flatMap((part) =>
      TRACKS.map((each) => ({ ...each, id: each.id + part * 10_000, part })),
    );
    const state = {
      ...STATE,
      toggled: new Set(['p20001', 't20002']),
      hidden: new Set([20_002]),
      filter: 'python',
    };
    const next = revealed(state, ranks, tracks, 20_002, 1);
    const { rows } = treeOf(ranks, tracks, next);
    const row = rowOf(rows, 20_002);
    expect(row?.folded).toBe(false);
    expect(next.filter).toBe('');
    expect(rows.filter((each) => each.kind === 'rank' && !each.folded)).toHaveLength(1);
  });
});
