import { describe, expect, it } from 'vitest';
import type { Timeline } from '../../api/types.gen';
import { track } from '../../testing.timeline';
import { afterBase, overviewOf, shiftsOf, stepFrom, stepsOf, tracksParam, wholeOf } from './model';

const rank = (part: number, start: number, end: number) => ({
  part,
  rank: part,
  label: `Rank ${part}`,
  capture_id: '',
  start,
  end,
});
const step = (part: number, number: number, start: number, end: number) => ({
  part,
  step: number,
  name: `Step ${number}`,
  start,
  end,
});
const DATA: Timeline = {
  base_ns: '1700000000000000000',
  start: 0,
  end: 1_000,
  ranks: [rank(0, 0, 10_000), rank(1, 500, 11_000)],
  tracks: [],
  kinds: [],
  colours: [],
  steps: [step(0, 1, 0, 4_000), step(0, 2, 4_000, 9_000), step(1, 1, 500, 4_500)],
  total_ranks: 2,
  note: '',
  alignments: [
    { id: 'clock', label: 'Clock', shifts: [0, 0] },
    { id: 'step', label: 'Steps', shifts: [0, -500] },
  ],
};

describe('shifts', () => {
  it('are those of the alignment and of the rank', () => {
    expect([...shiftsOf(DATA, 'step', new Map([[1, 30]]))]).toEqual([
      [0, 0],
      [1, -470],
    ]);
    expect(shiftsOf(DATA, 'unheard', new Map()).get(1)).toBe(0);
  });

  it('move the ends and the steps', () => {
    const shifts = shiftsOf(DATA, 'step', new Map());
    expect(wholeOf(DATA, shifts)).toEqual([0, 10_500]);
    expect(stepsOf(DATA, 1, shifts).map((each) => each.start)).toEqual([0]);
  });
});

describe('the next step', () => {
  const steps = stepsOf(DATA, 0, new Map());
  it('is told from the left edge, with the air around a step', () => {
    expect(stepFrom(steps, -300, 1)?.step).toBe(1);
    expect(stepFrom(steps, 0, 1)?.step).toBe(2);
    expect(stepFrom(steps, 4_000, -1)?.step).toBe(1);
    expect(stepFrom(steps, 4_000, 1)).toBeUndefined();
  });
});

it('the whole is shown by one rank, best by its overlap', () => {
  const tracks = [
    track(0, { kind: 'python' }),
    track(1, { kind: 'overlap' }),
    track(2, { kind: 'overlap' }),
    track(10_001, { kind: 'overlap' }),
  ];
  expect(overviewOf(tracks).map((each) => each.id)).toEqual([1, 2]);
  expect(overviewOf([track(0), track(1, { slices: 99 })]).map((each) => each.id)).toEqual([1]);
});

it('tracks are named only where some are left out', () => {
  const all = [track(0), track(1), track(2)];
  expect(tracksParam(all, all)).toBeNull();
  expect(tracksParam(all.slice(1), all)).toBe('1,2');
});

it('an absolute moment keeps every ns', () => {
  expect(afterBase('1700000000000000123', DATA.base_ns)).toBe(123);
  expect(afterBase('12.5ms', DATA.base_ns)).toBeNull();
  expect(afterBase('5', null)).toBeNull();
});
