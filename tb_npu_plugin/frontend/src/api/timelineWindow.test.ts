import { describe, expect, it } from 'vitest';
import { packWindow } from '../testing.timeline';
import {
  decodeWindow,
  endOf,
  FormatError,
  itemAt,
  partOf,
  sliceId,
  startOf,
} from './timelineWindow';

const SLICES = {
  from: 1_000,
  to: 2_000,
  tick: 2,
  lanes: [
    { track: 3, depth: 0, items: [{ start: 10, length: 50, name: 'MatMul', row: 7 }] },
    {
      track: 20_004,
      depth: 1,
      items: [
        { start: 0, length: 20, name: 'Add', row: 2 ** 33 + 5 },
        { start: 100, length: 4, name: 'MatMul', row: 9, count: 12 },
      ],
    },
  ],
};

describe('a window', () => {
  it('is read column by column', () => {
    const data = decodeWindow(packWindow(SLICES));
    expect([...data.lanes.keys()]).toEqual([3, 20_004]);
    expect(data.items).toBe(3);
    expect(data.names).toEqual(['MatMul', 'Add']);
    expect([startOf(data, 0), endOf(data, 0)]).toEqual([1_020, 1_120]);
    expect(data.count[2]).toBe(12);
    expect(data.hits).toBeNull();
  });

  it('knows the slices past 2^32', () => {
    const data = decodeWindow(packWindow(SLICES));
    expect(sliceId(data, 20_004, 1)).toBe('2.8589934597');
    expect(sliceId(data, 3, 0)).toBe('0.7');
    expect(partOf(20_004)).toBe(2);
  });

  it('finds the item at a time', () => {
    const data = decodeWindow(packWindow(SLICES));
    const [lane] = data.lanes.get(20_004) ?? [];
    if (!lane) throw new Error('no lane');
    expect(itemAt(data, lane, 1_000)).toBe(1);
    expect(itemAt(data, lane, 1_199)).toBe(1);
    expect(itemAt(data, lane, 1_200)).toBe(2);
    expect(itemAt(data, lane, 900)).toBe(0);
  });

  it('may hold nothing', () => {
    const data = decodeWindow(packWindow({ from: 0, to: 1, tick: 1, lanes: [] }));
    expect([data.items, data.lanes.size]).toEqual([0, 0]);
  });

  it('is refused where it is something else or cut short', () => {
    const whole = packWindow(SLICES);
    expect(() => decodeWindow(new TextEncoder().encode('{"error": 1}').buffer)).toThrow(
      FormatError,
    );
    expect(() => decodeWindow(whole.slice(0, whole.byteLength - 8))).toThrow(FormatError);
    expect(() => decodeWindow(whole.slice(0, 20))).toThrow(FormatError);
  });
});
