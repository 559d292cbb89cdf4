/** Paints the rows of tracks: slices, ticks of instants, counters. Knows no screen, only a span. */

import { type Lane, lastAt, type Run, type WindowData } from '../../api/timelineWindow';
import type { TimelineTrack } from '../../api/types.gen';
import { elide, visible } from '../../lib/text';
import type { Area, Ink } from './ink';
import { paintCounter } from './paintCounters';
import { nameGaps, paintGaps } from './paintGaps';
import { paintUnread } from './paintUnread';
import {
  conceptOf,
  HUES,
  hueOfKey,
  LEVELS,
  levelOf,
  type Palette,
  scaleAt,
  stacked,
} from './palette';
import { countersShown, type Metrics, rowHeight, rowsOf, type TrackRow } from './rows';
import type { Span } from './span';
import { pixelOf, Strips } from './strips';

export interface Scene {
  rows: readonly TrackRow[];
  metrics: Metrics;
  dense: boolean;
  palette: Palette;
  token: (name: string) => string;
  dataOf: (track: number) => WindowData | null;
  /** `duration` has an order, other colourings have none. */
  colour: string;
  finding: boolean;
  /** Gaps of the device are marked. */
  idle: boolean;
  /** ns that the times of a rank are moved by. */
  shiftOf: (part: number) => number;
  font: string;
}

const LABEL_FROM = 26;
const PADDING = 4;
/** Lower rows have no room for a mark in a gap. */
const LEAST_MARKED = 8;

/** What is being painted on; names come last, over all slices. */
interface Sheet {
  ink: Ink;
  scene: Scene;
  area: Area;
  strips: Strips;
  names: { text: string; ink: string; left: number; y: number; width: number }[];
  gaps: { data: WindowData; runs: readonly Run[]; middle: number }[];
}

export function paintRows(ink: Ink, scene: Scene, area: Area): void {
  ink.fillStyle = scene.palette.ground;
  ink.fillRect(0, 0, area.width, area.height);
  ink.font = scene.font;
  ink.textBaseline = 'middle';
  ink.textAlign = 'left';
  const sheet: Sheet = {
    ink,
    scene,
    area,
    strips: new Strips(Math.round(area.width * area.ratio)),
    names: [],
    gaps: [],
  };
  for (const row of scene.rows) {
    const y = row.top - area.top;
    if (row.kind !== 'track') {
      ink.fillStyle = scene.token('bg');
      ink.fillRect(0, y, area.width, row.height);
    }
    ink.fillStyle = scene.token('line');
    ink.fillRect(0, y + row.height - 1, area.width, 1);
    if (row.kind === 'track') paintTrack(sheet, row, y);
    else if (row.folded) paintFolded(sheet, row, y);
  }
  const quiet = scene.token('ink3');
  for (const { data, runs, middle } of sheet.gaps) {
    paintGaps(sheet.strips, area, data, runs, middle, quiet);
  }
  sheet.strips.flush(ink, area.width);
  for (const { data, runs, middle } of sheet.gaps) {
    nameGaps(ink, area, data, runs, middle, [quiet, scene.palette.ground]);
  }
  for (const { text, ink: colour, left, y, width } of sheet.names) {
    ink.fillStyle = colour;
    writeIn(ink, text, left, y, width);
  }
}

function paintTrack(sheet: Sheet, row: TrackRow, y: number): void {
  const { ink, scene, area } = sheet;
  const [track] = row.tracks;
  if (track?.unread) {
    paintUnread(
      ink,
      area,
      track.end + scene.shiftOf(track.part),
      y,
      row.height,
      scene.token('ink3'),
    );
  }
  const data = track && scene.dataOf(track.id);
  if (!track || !data) return;
  const { counter, gap } = scene.metrics;
  const depth = rowHeight(track, row.folded, scene.metrics);
  const high = depth > 4 ? depth - 1 : depth;
  const top = y + Math.floor(gap / 2);
  for (const lane of data.lanes.get(track.id) ?? []) {
    if (lane.depth < 0) continue;
    const laneTop = top + lane.depth * depth;
    if (laneTop + depth < 0 || laneTop > area.height) continue;
    paintLane(sheet, data, track, lane, laneTop, high, true);
  }
  for (const lane of data.lanes.get(track.id) ?? []) {
    if (lane.depth < 0) paintInstants(ink, scene, area, data, lane, top, high);
  }
  const idle = scene.idle && high >= LEAST_MARKED ? data.gaps.get(track.id) : undefined;
  if (idle) sheet.gaps.push({ data, runs: idle, middle: top + Math.floor(high / 2) });
  const first = top + rowsOf(track) * depth;
  track.counters.slice(0, countersShown(track, row.folded)).forEach((each, at) => {
    const series = data.series.get(track.id)?.find((own) => own.key === each.key);
    if (!series) return;
    const box = { top: first + at * counter + 2, height: counter - 3 };
    paintCounter(ink, area, box, data, series, each, scene.palette.fills[colourOf(each.key)] ?? '');
  });
}

const colourOf = (key: number) => ((key * 5 + 12) % HUES) * LEVELS + LEVELS - 1;

/** Tracks over each other in a line. */
function paintFolded(sheet: Sheet, row: TrackRow, y: number): void {
  for (const track of stacked(row.tracks)) {
    const data = sheet.scene.dataOf(track.id);
    const lane = data?.lanes.get(track.id)?.find((each) => each.depth === 0);
    if (data && lane) paintLane(sheet, data, track, lane, y + 4, row.height - 9, false);
  }
}

function paintLane(
  sheet: Sheet,
  data: WindowData,
  track: TimelineTrack,
  lane: Lane,
  y: number,
  height: number,
  written: boolean,
): void {
  const { scene, area, strips } = sheet;
  const { start, length, count } = data;
  const scale = (area.width / (area.span[1] - area.span[0])) * area.ratio;
  const shift = (data.from - area.span[0]) * scale;
  const perTick = data.tick * scale;
  const until = (strips.width - shift) / perTick;
  const gap = Math.max(1, Math.round(height > 8 ? area.ratio : 1));
  const names = written && height >= 8;
  strips.begin(y, height);
  for (let i = Math.max(lane.first, lastAt(start, lane, -shift / perTick)); i < lane.end; i++) {
    const begin = start[i] as number;
    if (begin > until) break;
    const end = shift + (begin + (length[i] as number)) * perTick;
    if (end < 0) continue;
    const left = Math.max(0, Math.round(shift + begin * perTick));
    const right = Math.max(left + 1, Math.min(strips.width, Math.round(end)));
    if (left >= strips.width) break;
    // A gap tells neighbours apart where there is room for one.
    const drawn = right - left > 3 ? right - gap : right;
    strips.fill(left, drawn, pixelOf(fillOf(scene, data, track, i)));
    const width = (drawn - left) / area.ratio;
    if (!names || width < LABEL_FROM || count[i] !== 1) continue;
    sheet.names.push({
      text: nameOf(data, i),
      ink: inkOf(scene, data, track, i),
      left: left / area.ratio,
      y: y + height / 2 + 0.5,
      width,
    });
  }
}

/** For the name of an item, on its colour. */
export function inkOf(scene: Scene, data: WindowData, track: TimelineTrack, item: number): string {
  if (data.hits && data.hits[item] === 0) return scene.token('ink3');
  const concept = track.kind === 'overlap' && !data.key ? conceptOf(nameOf(data, item)) : null;
  return (concept && scene.palette.conceptInk[concept]) ?? scene.palette.ink;
}

const nameOf = (data: WindowData, item: number) => data.names[data.name[item] as number] ?? '';

/** The colour of an item, by how much of its extent is filled. */
export function fillOf(scene: Scene, data: WindowData, track: TimelineTrack, item: number): string {
  const { palette } = scene;
  const single = data.count[item] === 1;
  const extent = (data.length[item] as number) * data.tick;
  const level = single ? LEVELS - 1 : levelOf(data.busy[item] as number, extent);
  if (data.hits && data.hits[item] === 0) return palette.dimmed[level] ?? palette.ground;
  if (data.key && data.legend) {
    const key = data.key[item] as number;
    if (key === 255) return palette.unknown[level] ?? '';
    if (scene.colour === 'duration') return scaleAt(palette, key, data.legend.length);
    return palette.fills[hueOfKey(key) * LEVELS + level] ?? '';
  }
  const name = data.name[item] as number;
  const concept = track.kind === 'overlap' ? conceptOf(data.names[name] ?? '') : null;
  if (concept) return palette.concepts[concept]?.[level] ?? '';
  return palette.fills[((data.hues[name] ?? 0) % HUES) * LEVELS + level] ?? '';
}

const widths = new Map<string, number>();

/** As much of a name as there is room for. */
export function writeIn(ink: Ink, name: string, left: number, y: number, width: number): void {
  const room = width - 2 * PADDING;
  const text = visible(name);
  const key = `${ink.font}|${text}`;
  let whole = widths.get(key);
  if (whole === undefined) {
    whole = ink.measureText(text).width;
    if (widths.size > 20_000) widths.clear();
    widths.set(key, whole);
  }
  if (whole <= room) {
    ink.fillText(text, left + PADDING, y);
    return;
  }
  const letters = Math.floor((room / whole) * text.length) - 1;
  if (letters >= 2) ink.fillText(elide(text, letters), left + PADDING, y);
}

function paintInstants(
  ink: Ink,
  scene: Scene,
  area: Area,
  data: WindowData,
  lane: Lane,
  y: number,
  height: number,
): void {
  const scale = area.width / (area.span[1] - area.span[0]);
  const shift = (data.from - area.span[0]) * scale;
  const perTick = data.tick * scale;
  let last = -10;
  for (
    let i = Math.max(lane.first, lastAt(data.start, lane, -shift / perTick));
    i < lane.end;
    i++
  ) {
    const x = Math.round(shift + (data.start[i] as number) * perTick);
    if (x > area.width) break;
    if (x < 0 || x - last < 1) continue;
    last = x;
    ink.fillStyle = data.hits && data.hits[i] === 0 ? scene.token('ink3') : scene.token('ink2');
    ink.fillRect(x - 0.5, y, 1, height);
    ink.fillRect(x - 1.5, y, 3, 3);
  }
}

/** How many slices a span holds on some tracks. */
export function itemsWithin(
  tracks: readonly TimelineTrack[],
  dataOf: Scene['dataOf'],
  span: Span,
): number {
  let items = 0;
  for (const track of new Set(tracks)) {
    const data = dataOf(track.id);
    for (const lane of data?.lanes.get(track.id) ?? []) {
      if (!data) continue;
      const last = (span[1] - data.from) / data.tick;
      const first = (span[0] - data.from) / data.tick;
      for (let i = Math.max(lane.first, lastAt(data.start, lane, first)); i < lane.end; i++) {
        const start = data.start[i] as number;
        if (start > last) break;
        if (start + (data.length[i] as number) >= first) items += data.count[i] as number;
      }
    }
  }
  return items;
}
