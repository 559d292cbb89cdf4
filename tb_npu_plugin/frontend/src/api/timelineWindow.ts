/**
 * The slices and counters of a span of time, as the server packs them: `NPT1`, the length of a JSON
 * header, the header, then columns of numbers, each begun at a multiple of 8.
 */

export interface WindowHeader {
  from: number;
  to: number;
  width: number;
  /** ns per tick. */
  tick: number;
  /** Depth -1: instants. */
  lanes: [track: number, depth: number, first: number, count: number][];
  names: string[];
  hues: number[];
  /** What `key` stands for, where the colour is not that of the name. */
  legend: string[] | null;
  counters: [track: number, key: number, first: number, count: number][];
  gaps: [track: number, first: number, count: number][];
  columns: { name: string; type: ColumnType; offset: number; count: number }[];
}

type ColumnType = 'u1' | 'u2' | 'u4' | 'f4' | 'f8';
export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array | Float64Array;

export interface Lane {
  track: number;
  depth: number;
  first: number;
  /** One past the last. */
  end: number;
}

export interface Series {
  key: number;
  first: number;
  end: number;
}

export interface Run {
  first: number;
  end: number;
}

/** Items of a lane are in order and do not overlap. */
export interface WindowData {
  from: number;
  to: number;
  width: number;
  tick: number;
  names: readonly string[];
  hues: readonly number[];
  legend: readonly string[] | null;
  lanes: ReadonlyMap<number, readonly Lane[]>;
  series: ReadonlyMap<number, readonly Series[]>;
  items: number;
  start: Numbers;
  length: Numbers;
  duration: Numbers;
  busy: Numbers;
  count: Numbers;
  name: Numbers;
  row: Numbers;
  rowHigh: Numbers | null;
  key: Numbers | null;
  hits: Numbers | null;
  at: Numbers;
  least: Numbers;
  most: Numbers;
  /** Idle gaps of the device's tracks. */
  gaps: ReadonlyMap<number, readonly Run[]>;
  gapStart: Numbers;
  gapLength: Numbers;
  /** ns, of the whole gap where the window cuts it. */
  gapDuration: Numbers;
}

const MAGIC = 0x3154504e; // "NPT1", the low byte first
const BYTES: Record<ColumnType, number> = { u1: 1, u2: 2, u4: 4, f4: 4, f8: 8 };
const NONE = new Uint32Array(0);

export class FormatError extends Error {}

export function decodeWindow(buffer: ArrayBuffer): WindowData {
  const view = new DataView(buffer);
  if (buffer.byteLength < 8 || view.getUint32(0, true) !== MAGIC) {
    throw new FormatError('not a window of the timeline');
  }
  const size = view.getUint32(4, true);
  if (8 + size > buffer.byteLength) throw new FormatError('cut short');
  const header = JSON.parse(
    new TextDecoder().decode(new Uint8Array(buffer, 8, size)),
  ) as WindowHeader;
  const begin = 8 + Math.ceil(size / 8) * 8;
  const columns = new Map<string, Numbers>();
  for (const column of header.columns) {
    const first = begin + column.offset;
    if (first + column.count * BYTES[column.type] > buffer.byteLength) {
      throw new FormatError('cut short');
    }
    columns.set(column.name, numbers(buffer, column.type, first, column.count));
  }
  const column = (name: string) => columns.get(name) ?? NONE;
  return {
    from: header.from,
    to: header.to,
    width: header.width,
    tick: header.tick,
    names: header.names,
    hues: header.hues,
    legend: header.legend ?? null,
    lanes: byTrack(header.lanes, ([track, depth, first, count]) => ({
      track,
      depth,
      first,
      end: first + count,
    })),
    series: byTrack(header.counters, ([, key, first, count]) => ({
      key,
      first,
      end: first + count,
    })),
    items: column('start').length,
    start: column('start'),
    length: column('length'),
    duration: column('duration'),
    busy: column('busy'),
    count: column('count'),
    name: column('name'),
    row: column('row'),
    rowHigh: columns.get('row_high') ?? null,
    key: columns.get('key') ?? null,
    hits: columns.get('hits') ?? null,
    at: column('at'),
    least: column('least'),
    most: column('most'),
    gaps: byTrack(header.gaps, ([, first, count]) => ({ first, end: first + count })),
    gapStart: column('gap_start'),
    gapLength: column('gap_length'),
    gapDuration: column('gap_duration'),
  };
}

function numbers(buffer: ArrayBuffer, type: ColumnType, first: number, count: number): Numbers {
  switch (type) {
    case 'u1':
      return new Uint8Array(buffer, first, count);
    case 'u2':
      return new Uint16Array(buffer, first, count);
    case 'u4':
      return new Uint32Array(buffer, first, count);
    case 'f4':
      return new Float32Array(buffer, first, count);
    case 'f8':
      return new Float64Array(buffer, first, count);
  }
}

function byTrack<E extends [track: number, ...rest: number[]], R>(
  entries: readonly E[],
  make: (entry: E) => R,
): Map<number, R[]> {
  const found = new Map<number, R[]>();
  for (const entry of entries) {
    const list = found.get(entry[0]);
    if (list) list.push(make(entry));
    else found.set(entry[0], [make(entry)]);
  }
  return found;
}

/** The id of the (longest) slice of an item. */
export function sliceId(data: WindowData, track: number, item: number): string {
  const row = (data.rowHigh?.[item] ?? 0) * 2 ** 32 + (data.row[item] ?? 0);
  return `${partOf(track)}.${row}`;
}

export const PART = 10_000;
export const partOf = (track: number) => Math.floor(track / PART);
export const partOfSlice = (id: string) => Number.parseInt(id, 10) || 0;

export const startOf = (data: WindowData, item: number) =>
  data.from + (data.start[item] ?? 0) * data.tick;

/** Where an item ends, inside its window. */
export const endOf = (data: WindowData, item: number) =>
  data.from + ((data.start[item] ?? 0) + (data.length[item] ?? 0)) * data.tick;

/** The last item of a lane that begins at or before `time`; `first - 1` where there is none. */
export function itemAt(data: WindowData, lane: Pick<Lane, 'first' | 'end'>, time: number): number {
  return lastAt(data.start, lane, (time - data.from) / data.tick);
}

/** The last place of a rising column with at most `value`. */
export function lastAt(
  column: Numbers,
  { first, end }: Pick<Lane, 'first' | 'end'>,
  value: number,
): number {
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((column[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
