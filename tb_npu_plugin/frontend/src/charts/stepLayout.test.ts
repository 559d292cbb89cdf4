import { describe, expect, it } from 'vitest';
import type { StepBar } from '../api/types.gen';
import { axisFor, layBar, ticksFor } from './stepLayout';

const bar = (over: Partial<StepBar> = {}): StepBar => ({
  label: 'Rank 0',
  rank: 0,
  device: null,
  steps: 1,
  preparing_ns: 20,
  computing_only_ns: 10,
  overlapped_ns: 10,
  communication_not_overlapped_ns: 60,
  free_ns: 20,
  bubble_ns: 0,
  stage_ns: 100,
  ...over,
});

const end = (segments: { at: number; width: number }[]) => {
  const last = segments[segments.length - 1];
  return last ? last.at + last.width : 0;
};

describe('a step bar', () => {
  it('draws Preparing before zero and the stage after it, to one scale', () => {
    const bars = [bar(), bar({ preparing_ns: 10, free_ns: 0, stage_ns: 80 })];
    const axis = axisFor(bars);
    expect(axis).toEqual({ before: 20, after: 100, share: false });
    const [a, b] = bars.map((each) => layBar(each, axis).segments);
    const zero = 20 / 120;
    expect(a?.[0]).toMatchObject({ part: 'preparing', at: 0, width: zero });
    expect(b?.[0]).toMatchObject({ part: 'preparing', at: zero / 2, width: zero / 2 });
    expect(a?.[1]).toMatchObject({ part: 'computing', at: zero });
    expect(b?.[1]).toMatchObject({ part: 'computing', at: zero });
    expect(end(a ?? [])).toBeCloseTo(1);
    expect(end(b ?? [])).toBeCloseTo((20 + 80) / 120);
  });

  it('cuts a Preparing that would squeeze the stage, and says so', () => {
    const long = bar({ preparing_ns: 10_000 });
    const axis = axisFor([long]);
    expect(axis.before).toBe(50);
    expect(axisFor([bar({ preparing_ns: 100 })]).before).toBe(100);
    expect(layBar(long, axis).cut).toBe(true);
    expect(layBar(bar({ preparing_ns: 30 }), axis).cut).toBe(false);
  });

  it('never draws what is unknown as zero: the rest of the stage is there', () => {
    const { segments } = layBar(
      bar({ computing_only_ns: null, overlapped_ns: null }),
      axisFor([bar()]),
    );
    expect(segments.map((segment) => [segment.part, segment.ns])).toEqual([
      ['preparing', 20],
      ['unknown', 20],
      ['communication', 60],
      ['free', 20],
    ]);
  });

  it('survives impossible and empty bars', () => {
    const none = bar({
      preparing_ns: null,
      computing_only_ns: null,
      overlapped_ns: null,
      communication_not_overlapped_ns: null,
      free_ns: null,
      bubble_ns: null,
      stage_ns: null,
    });
    expect(layBar(none, axisFor([none])).segments).toEqual([]);
    expect(axisFor([])).toEqual({ before: 0, after: 1, share: false });
    const negative = bar({ preparing_ns: -1.7e15, free_ns: -5 });
    for (const segment of layBar(negative, axisFor([negative])).segments) {
      expect(segment.width).toBeGreaterThan(0);
      expect(segment.at).toBeGreaterThanOrEqual(0);
    }
  });

  it('compares shares when each bar is drawn against its own stage', () => {
    const bars = [bar(), bar({ stage_ns: 200, free_ns: 120 })];
    const axis = axisFor(bars, true);
    expect(axis.after).toBe(1);
    for (const each of bars) expect(end(layBar(each, axis).segments)).toBeCloseTo(1);
  });
});

it('puts ticks at round values from zero', () => {
  const ticks = ticksFor({ before: 0, after: 136_000_000, share: false });
  expect(ticks.map((tick) => tick.value)).toEqual([0, 5e7, 1e8]);
  expect(ticksFor({ before: 20, after: 80, share: false }, 4)[1]).toEqual({ value: 20, at: 0.4 });
});
