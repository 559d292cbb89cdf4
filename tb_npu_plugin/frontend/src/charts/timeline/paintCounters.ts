/** A counter as a filled step curve; where many values share a pixel, from the least to the most. */

import { lastAt, type Series, type WindowData } from '../../api/timelineWindow';
import type { CounterSeries } from '../../api/types.gen';
import { formatBytes, formatNumber, NBSP } from '../../lib/format';
import type { Area, Ink } from './ink';

export interface Box {
  top: number;
  height: number;
}

export function paintCounter(
  ink: Ink,
  area: Area,
  box: Box,
  data: WindowData,
  series: Series,
  counter: CounterSeries,
  colour: string,
): void {
  const { at, least, most } = data;
  const scale = area.width / (area.span[1] - area.span[0]);
  const x = (tick: number) => (data.from + tick * data.tick - area.span[0]) * scale;
  const low = Math.min(0, counter.least);
  const range = counter.most - low || 1;
  const bottom = box.top + box.height;
  const y = (value: number) => bottom - ((value - low) / range) * box.height;
  const first = Math.max(series.first, lastAt(at, series, (area.span[0] - data.from) / data.tick));
  const path = new Path2D();
  let begun = false;
  let level = bottom;
  let right = 0;
  for (let i = first; i < series.end; i++) {
    const left = Math.max(0, x(at[i] as number));
    if (left > area.width) break;
    if (!begun) path.moveTo(left, bottom);
    begun = true;
    path.lineTo(left, level);
    path.lineTo(left, y(most[i] as number));
    // A dip inside a pixel is as real as a peak.
    if ((least[i] as number) < (most[i] as number)) path.lineTo(left, y(least[i] as number));
    level = y(most[i] as number);
    path.lineTo(left, level);
    right = left;
  }
  if (!begun) return;
  right = Math.max(right, Math.min(area.width, x((data.to - data.from) / data.tick)));
  path.lineTo(right, level);
  ink.strokeStyle = colour;
  ink.lineWidth = 1;
  ink.stroke(path);
  path.lineTo(right, bottom);
  path.closePath();
  ink.globalAlpha = 0.45;
  ink.fillStyle = colour;
  ink.fill(path);
  ink.globalAlpha = 1;
}

/** `Read 0–1.2 GB/s` */
export function counterText({ name, unit, least, most }: CounterSeries): string {
  return `${name}  ${valueText(Math.min(0, least), '')}–${valueText(most, unit)}`;
}

export function valueText(value: number, unit: string): string {
  if (unit === 'B') return formatBytes(value);
  return unit ? `${formatNumber(value)}${NBSP}${unit}` : formatNumber(value);
}
