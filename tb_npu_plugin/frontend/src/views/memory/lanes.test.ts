import { describe, expect, it } from 'vitest';
import type { MemoryPeak, MemorySeries } from '../../api/types.gen';
import { plain } from '../../lib/format';
import { lanesOf, measuresOf, placeName, topOf, wholeSpan } from './lanes';

const series = (over: Partial<MemorySeries> = {}): MemorySeries => ({
  rank: 0,
  capture: 'Rank 0',
  device: 0,
  component: 'PTA',
  measure: 'allocated',
  times_ns: [10, 20],
  values: [100, 300],
  rows: 2,
  exact: true,
  ...over,
});
const peak: MemoryPeak = {
  rank: 0,
  capture: 'Rank 0',
  device: 0,
  component: 'PTA',
  reserved_bytes: 4096,
  reserved_at_ns: 10,
  allocated_bytes: 2048,
  allocated_at_ns: 20,
  active_bytes: null,
  active_at_ns: null,
  start_bytes: 0,
  end_bytes: 0,
  rows: 2,
};
const all = measuresOf(undefined);

describe('lanes of memory', () => {
  it('are one per device, of one component', () => {
    const data = {
      series: [
        series(),
        series({ measure: 'reserved' }),
        series({ component: 'GE' }),
        series({ rank: 1, capture: 'Rank 1', device: 1 }),
      ],
      peaks: [peak],
      alive: [],
    };
    const lanes = lanesOf(data, 'PTA', all);
    expect(lanes.map((lane) => [lane.label, lane.curves.length])).toEqual([
      ['Rank 0', 2],
      ['Rank 1', 1],
    ]);
    expect(plain(lanes[0]?.figure ?? '')).toBe('2.00 KiB');
    expect(lanes[1]?.patch).toEqual({ rank: '1' });
    expect(lanesOf(data, 'PTA', new Set(['reserved'])).map((lane) => lane.curves.length)).toEqual([
      1, 0,
    ]);
    expect(topOf(lanes)).toBeCloseTo(312);
  });

  it('lead nowhere where there is one', () => {
    expect(lanesOf({ series: [series()], peaks: [], alive: [] }, 'PTA', all)[0]?.patch).toBeNull();
  });

  it('name the device of a capture with several', () => {
    const both = [series(), series({ device: 1 })];
    expect(both.map((each) => placeName(each, both))).toEqual(['Rank 0 · 0', 'Rank 0 · 1']);
  });

  it('span what was recorded', () => {
    expect(wholeSpan([series(), series({ times_ns: [5, 90] })])).toEqual([5, 90]);
    expect(wholeSpan([])).toEqual([0, 1]);
  });

  it('show all totals unless some are chosen', () => {
    expect([...measuresOf('allocated,junk')]).toEqual(['allocated']);
    expect(measuresOf('junk').size).toBe(3);
    expect([...measuresOf('allocated', ['reserved'])]).toEqual(['reserved']);
  });
});
