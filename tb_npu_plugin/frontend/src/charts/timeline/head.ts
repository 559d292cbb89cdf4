/** Above the rows: the whole capture with the part on screen, the steps, the ruler with markers. */

import { lastAt } from '../../api/timelineWindow';
import type { TimelineStep } from '../../api/types.gen';
import { formatDuration } from '../../lib/format';
import { elide, visible } from '../../lib/text';
import type { MapLine, OverviewTrack } from './mapLine';
import type { Marker } from './overlay';
import { type Scene, writeIn } from './paint';
import { rulerTicks } from './ruler';
import { type Span, xOf } from './span';

export const MAP = 18;
export const STEPS = 18;
export const RULER = 22;
export const HEAD = MAP + STEPS + RULER;

export interface HeadInput {
  whole: Span;
  span: Span;
  range: Span | null;
  steps: readonly TimelineStep[];
  markers: readonly Marker[];
  baseNs: string | null;
  overview: readonly OverviewTrack[];
  map: MapLine;
}

type Pen = CanvasRenderingContext2D;

export function drawHead(ink: Pen, scene: Scene, width: number, input: HeadInput): void {
  ink.fillStyle = scene.palette.ground;
  ink.fillRect(0, 0, width, HEAD);
  drawMap(ink, scene, width, input);
  drawSteps(ink, scene, width, input);
  drawRuler(ink, scene, width, input);
  ink.fillStyle = scene.token('line');
  ink.fillRect(0, MAP - 1, width, 1);
  ink.fillRect(0, MAP + STEPS - 1, width, 1);
  ink.fillRect(0, HEAD - 1, width, 1);
}

function drawMap(ink: Pen, scene: Scene, width: number, input: HeadInput): void {
  const { whole, span, overview, map } = input;
  const scale = width / (whole[1] - whole[0] || 1);
  map.draw(ink, scene, [3, width, MAP - 7], whole, overview);
  const x0 = Math.max(0, (span[0] - whole[0]) * scale);
  const x1 = Math.min(width, Math.max(x0 + 3, (span[1] - whole[0]) * scale));
  ink.fillStyle = scene.palette.ground;
  ink.globalAlpha = 0.62;
  ink.fillRect(0, 0, x0, MAP - 1);
  ink.fillRect(x1, 0, width - x1, MAP - 1);
  ink.globalAlpha = 1;
  ink.strokeStyle = scene.token('accent');
  ink.lineWidth = 1;
  ink.strokeRect(Math.floor(x0) + 0.5, 0.5, Math.max(2, Math.ceil(x1 - x0) - 1), MAP - 2);
}

function drawSteps(ink: Pen, scene: Scene, width: number, { span, steps }: HeadInput): void {
  steps.forEach((step, at) => {
    const x0 = Math.max(0, xOf(span, step.start, width));
    const x1 = Math.min(width, xOf(span, step.end, width));
    if (x1 <= 0 || x0 >= width) return;
    ink.fillStyle = scene.token(at % 2 === 0 ? 'accent-soft' : 'hover');
    ink.fillRect(x0, MAP, Math.max(1, x1 - x0), STEPS - 1);
    ink.fillStyle = scene.token('ink3');
    ink.fillRect(x0, MAP, 1, STEPS - 1);
    if (x1 - x0 < 24) return;
    ink.fillStyle = scene.token('ink2');
    const long = `${visible(step.name)} · ${formatDuration(step.end - step.start)}`;
    writeIn(ink, x1 - x0 > 130 ? long : visible(step.name), x0, MAP + STEPS / 2, x1 - x0);
  });
}

function drawRuler(ink: Pen, scene: Scene, width: number, input: HeadInput): void {
  const { span, range, markers, baseNs } = input;
  const top = MAP + STEPS;
  if (range) {
    const x0 = Math.max(0, xOf(span, range[0], width));
    const x1 = Math.min(width, xOf(span, range[1], width));
    ink.fillStyle = scene.token('accent-soft');
    if (x1 > x0) ink.fillRect(x0, top, x1 - x0, RULER - 1);
  }
  const { ticks, minor, common } = rulerTicks(span, width, baseNs);
  ink.fillStyle = scene.token('line');
  for (const time of minor) ink.fillRect(Math.round(xOf(span, time, width)), HEAD - 5, 1, 4);
  const flags = markers.map(({ time, note }) => {
    const left = xOf(span, time, width);
    return [left, left + 12 + (note ? ink.measureText(shortNote(note)).width + 8 : 0)] as const;
  });
  const taken = common ? ink.measureText(common).width + 14 : 0;
  for (const tick of ticks) {
    const x = Math.round(xOf(span, tick.value, width));
    ink.fillStyle = scene.token('ink3');
    ink.fillRect(x, HEAD - 8, 1, 7);
    const wide = ink.measureText(tick.text).width + 6;
    if (flags.some(([left, right]) => x + wide > left && x < right)) continue;
    if (x < taken || x + ink.measureText(tick.text).width > width) continue;
    ink.fillText(tick.text, x + 4, top + RULER / 2 - 1);
  }
  if (common) {
    ink.fillStyle = scene.token('ink2');
    ink.fillText(common, 4, top + RULER / 2 - 1);
  }
  if (range) drawRangeLength(ink, scene, width, span, range);
  for (const marker of markers) drawFlag(ink, scene, xOf(span, marker.time, width), marker.note);
}

function drawRangeLength(ink: Pen, scene: Scene, width: number, span: Span, range: Span): void {
  const x0 = Math.max(0, xOf(span, range[0], width));
  const x1 = Math.min(width, xOf(span, range[1], width));
  const text = formatDuration(range[1] - range[0]);
  const wide = ink.measureText(text).width + 10;
  if (x1 - x0 < 4) return;
  const x = Math.min(width - wide, Math.max(0, (x0 + x1 - wide) / 2));
  ink.fillStyle = scene.token('accent');
  ink.fillRect(x, MAP + STEPS + 3, wide, RULER - 8);
  ink.fillStyle = scene.token('on-accent');
  ink.fillText(text, x + 5, MAP + STEPS + RULER / 2 - 1);
}

const shortNote = (note: string) => elide(visible(note), 40);

function drawFlag(ink: Pen, scene: Scene, x: number, note: string): void {
  if (x < -200) return;
  const top = MAP + STEPS + 2;
  ink.fillStyle = scene.token('warning');
  ink.beginPath();
  ink.moveTo(x, HEAD - 1);
  ink.lineTo(x, top);
  ink.lineTo(x + 9, top + 4);
  ink.lineTo(x + 1, top + 8);
  ink.lineTo(x + 1, HEAD - 1);
  ink.fill();
  if (!note) return;
  const text = shortNote(note);
  const wide = ink.measureText(text).width + 8;
  ink.fillStyle = scene.token('warning-soft');
  ink.fillRect(x + 10, top, wide, 15);
  ink.fillStyle = scene.token('warning');
  ink.fillText(text, x + 14, top + 8);
}

/** The marker whose flag is under `x`. */
export function markerAt(
  markers: readonly Marker[],
  span: Span,
  width: number,
  x: number,
): number | null {
  const at = markers.findIndex((marker) => {
    const left = xOf(span, marker.time, width);
    return x >= left - 3 && x <= left + 11;
  });
  return at < 0 ? null : at;
}

/** The step at a time, of those of one rank. */
export function stepAt(steps: readonly TimelineStep[], time: number): TimelineStep | null {
  const starts = Float64Array.from(steps, (step) => step.start);
  const step = steps[lastAt(starts, { first: 0, end: steps.length }, time)];
  return step && time <= step.end ? step : null;
}
