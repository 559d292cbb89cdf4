/** What is drawn over the rows in every frame: the selection, arrows, the range, markers. */
import { itemAt } from '../../api/timelineWindow';
import type { Ink } from './ink';
import { fillOf, inkOf, type Scene, writeIn } from './paint';
import { counterText } from './paintCounters';
import { placeOf } from './place';
import { countersShown, rowHeight, rowsOf, type TrackRow } from './rows';
import { type Span, xOf } from './span';

export interface Box {
  track: number;
  depth: number;
  start: number;
  end: number;
}

export interface Arrow {
  from: { track: number; depth: number; time: number };
  to: { track: number; depth: number; time: number };
  /** Of the selected slice. */
  strong: boolean;
}

export interface Marker {
  time: number;
  note: string;
}

export interface Screen {
  span: Span;
  width: number;
  height: number;
  scroll: number;
}

/** Names of slices that begin left of the screen stand at its edge; names of counters too. */
export function drawSticky(ink: Ink, scene: Scene, screen: Screen): void {
  for (const row of scene.rows) {
    if (row.kind !== 'track') continue;
    stickyNames(ink, scene, screen, row);
    stickyCounters(ink, scene, screen, row);
  }
}

function stickyNames(ink: Ink, scene: Scene, screen: Screen, row: TrackRow): void {
  const [track] = row.tracks;
  const data = track && scene.dataOf(track.id);
  if (!track || !data) return;
  const { gap } = scene.metrics;
  const depth = rowHeight(track, row.folded, scene.metrics);
  if (depth < 9) return;
  for (const lane of data.lanes.get(track.id) ?? []) {
    if (lane.depth < 0) continue;
    const y = row.top - screen.scroll + Math.floor(gap / 2) + lane.depth * depth;
    if (y + depth < 0 || y > screen.height) continue;
    const item = itemAt(data, lane, screen.span[0]);
    if (item < lane.first || data.count[item] !== 1) continue;
    const begin = data.from + (data.start[item] as number) * data.tick;
    const end = begin + (data.length[item] as number) * data.tick;
    if (begin >= screen.span[0] || end <= screen.span[0]) continue;
    const width = Math.min(screen.width, xOf(screen.span, end, screen.width)) - 1;
    if (width < 12) continue;
    ink.fillStyle = fillOf(scene, data, track, item);
    ink.fillRect(0, y, width, depth - 1);
    const name = data.names[data.name[item] as number] ?? '';
    ink.fillStyle = inkOf(scene, data, track, item);
    writeIn(ink, name, 0, y + (depth - 1) / 2 + 0.5, width);
  }
}

function stickyCounters(ink: Ink, scene: Scene, screen: Screen, row: TrackRow): void {
  const [track] = row.tracks;
  if (!track) return;
  const { counter, gap } = scene.metrics;
  const depth = rowHeight(track, row.folded, scene.metrics);
  const first = row.top - screen.scroll + Math.floor(gap / 2) + rowsOf(track) * depth;
  const shown = track.counters.slice(0, countersShown(track, row.folded));
  shown.forEach((each, at) => {
    const y = first + at * counter + 8;
    if (y < 0 || y > screen.height) return;
    const text = counterText(each);
    ink.globalAlpha = 0.75;
    ink.fillStyle = scene.palette.ground;
    ink.fillRect(2, y - 6, ink.measureText(text).width + 6, 12);
    ink.globalAlpha = 1;
    ink.fillStyle = scene.token('ink2');
    ink.fillText(text, 5, y);
  });
}

export function drawBox(
  ink: CanvasRenderingContext2D,
  scene: Scene,
  screen: Screen,
  rows: readonly TrackRow[],
  box: Box,
  strong: boolean,
): void {
  const place = placeOf(rows, scene.metrics, box.track, box.depth);
  if (!place) return;
  const left = xOf(screen.span, box.start, screen.width);
  const right = xOf(screen.span, box.end, screen.width);
  if (right < 0 || left > screen.width) return;
  const x0 = Math.max(-4, left);
  const x1 = Math.max(x0 + 2, Math.min(screen.width + 4, right));
  const y = place.top - screen.scroll;
  ink.setLineDash(place.folded ? [3, 2] : []);
  ink.lineWidth = strong ? 2 : 1;
  ink.strokeStyle = scene.token(strong ? 'ink' : 'ink2');
  ink.strokeRect(x0 - 0.5, y - 0.5, x1 - x0 + 1, place.height + 1);
  ink.setLineDash([]);
  ink.lineWidth = 1;
}

export function drawArrows(
  ink: CanvasRenderingContext2D,
  scene: Scene,
  screen: Screen,
  rows: readonly TrackRow[],
  arrows: readonly Arrow[],
): void {
  for (const arrow of arrows) {
    const from = placeOf(rows, scene.metrics, arrow.from.track, arrow.from.depth);
    const to = placeOf(rows, scene.metrics, arrow.to.track, arrow.to.depth);
    if (!from || !to) continue;
    const x0 = xOf(screen.span, arrow.from.time, screen.width);
    const x1 = xOf(screen.span, arrow.to.time, screen.width);
    if (Math.max(x0, x1) < -50 || Math.min(x0, x1) > screen.width + 50) continue;
    const y0 = from.top + from.height / 2 - screen.scroll;
    const y1 = to.top + to.height / 2 - screen.scroll;
    const bend = Math.max(16, Math.min(80, Math.abs(x1 - x0) / 2));
    ink.globalAlpha = arrow.strong ? 1 : 0.4;
    ink.strokeStyle = scene.token('accent');
    ink.fillStyle = scene.token('accent');
    ink.lineWidth = arrow.strong ? 1.5 : 1;
    ink.beginPath();
    ink.moveTo(x0, y0);
    ink.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    ink.stroke();
    ink.beginPath();
    ink.moveTo(x1, y1);
    ink.lineTo(x1 - 6, y1 - 3);
    ink.lineTo(x1 - 6, y1 + 3);
    ink.fill();
  }
  ink.globalAlpha = 1;
  ink.lineWidth = 1;
}

export function drawRange(
  ink: CanvasRenderingContext2D,
  scene: Scene,
  screen: Screen,
  range: Span,
): void {
  const x0 = Math.max(-2, xOf(screen.span, range[0], screen.width));
  const x1 = Math.min(screen.width + 2, xOf(screen.span, range[1], screen.width));
  if (x1 < x0) return;
  ink.fillStyle = scene.token('accent');
  ink.globalAlpha = 0.1;
  ink.fillRect(x0, 0, x1 - x0, screen.height);
  ink.globalAlpha = 1;
  ink.fillRect(x0 - 0.5, 0, 1, screen.height);
  ink.fillRect(x1 - 0.5, 0, 1, screen.height);
}

export function drawLine(
  ink: CanvasRenderingContext2D,
  screen: Screen,
  time: number,
  colour: string,
  dash: readonly number[],
): void {
  const x = Math.round(xOf(screen.span, time, screen.width)) + 0.5;
  if (x < 0 || x > screen.width) return;
  ink.strokeStyle = colour;
  ink.setLineDash([...dash]);
  ink.beginPath();
  ink.moveTo(x, 0);
  ink.lineTo(x, screen.height);
  ink.stroke();
  ink.setLineDash([]);
}

/** The box that is being drawn to zoom into; in pixels of the canvas. */
export function drawZoomBox(
  ink: CanvasRenderingContext2D,
  scene: Scene,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
): void {
  ink.strokeStyle = scene.token('accent');
  ink.fillStyle = scene.token('accent');
  ink.globalAlpha = 0.12;
  ink.fillRect(x0, y0, x1 - x0, y1 - y0);
  ink.globalAlpha = 1;
  ink.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0, y1 - y0);
}
