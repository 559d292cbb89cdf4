/** Windows of the timeline for the tests, packed as the server packs them. */
import type { TimelineTrack } from './api/types.gen';

export interface ItemMade {
  start: number;
  length: number;
  name: string;
  row: number;
  count?: number;
}

export interface WindowMade {
  from: number;
  to: number;
  tick: number;
  lanes: { track: number; depth: number; items: ItemMade[] }[];
}

export function packWindow({ from, to, tick, lanes }: WindowMade): ArrayBuffer {
  const items = lanes.flatMap((lane) => lane.items);
  const names = [...new Set(items.map((item) => item.name))];
  const table: [string, 'u4' | 'f4', number[]][] = [
    ['start', 'u4', items.map((item) => item.start)],
    ['length', 'u4', items.map((item) => item.length)],
    ['duration', 'f4', items.map((item) => item.length * tick)],
    ['busy', 'f4', items.map((item) => item.length * tick)],
    ['count', 'u4', items.map((item) => item.count ?? 1)],
    ['name', 'u4', items.map((item) => names.indexOf(item.name))],
    ['row', 'u4', items.map((item) => item.row % 2 ** 32)],
    ['row_high', 'u4', items.map((item) => Math.floor(item.row / 2 ** 32))],
  ];
  let size = 0;
  const columns = table.map(([name, type, values]) => {
    const offset = size;
    size += Math.ceil((values.length * 4) / 8) * 8;
    return { name, type, offset, count: values.length };
  });
  let first = 0;
  const header = {
    from,
    to,
    width: 100,
    tick,
    lanes: lanes.map(({ track, depth, items: own }) => {
      const lane = [track, depth, first, own.length];
      first += own.length;
      return lane;
    }),
    names,
    hues: names.map((_, at) => at % 24),
    legend: null,
    counters: [],
    gaps: [],
    columns,
  };
  const text = new TextEncoder().encode(JSON.stringify(header));
  const begin = 8 + Math.ceil(text.length / 8) * 8;
  const buffer = new ArrayBuffer(begin + size);
  const bytes = new Uint8Array(buffer);
  bytes.fill(32, 8, begin);
  bytes.set(new TextEncoder().encode('NPT1'));
  new DataView(buffer).setUint32(4, text.length, true);
  bytes.set(text, 8);
  table.forEach(([, type, values], at) => {
    const place = begin + (columns[at]?.offset ?? 0);
    (type === 'u4'
      ? new Uint32Array(buffer, place, values.length)
      : new Float32Array(buffer, place, values.length)
    ).set(values);
  });
  return buffer;
}

export const track = (id: number, over: Partial<TimelineTrack> = {}): TimelineTrack => ({
  id,
  part: Math.floor(id / 10_000),
  kind: 'hardware',
  device: 0,
  process: 'Ascend Hardware',
  label: `Stream ${id % 10_000}`,
  depths: 1,
  instants: false,
  slices: 10,
  points: 0,
  start: 0,
  end: 1_000,
  counters: [],
  unread: false,
  ...over,
});
