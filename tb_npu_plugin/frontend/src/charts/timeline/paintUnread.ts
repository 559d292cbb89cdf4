/** Hatches what lies behind the last event of a track whose file is still being read. */
import type { Area, Ink } from './ink';

const PITCH = 8;

export function paintUnread(
  ink: Ink,
  area: Area,
  from: number,
  y: number,
  height: number,
  colour: string,
): void {
  const scale = area.width / (area.span[1] - area.span[0]);
  const left = Math.max(0, Math.round((from - area.span[0]) * scale));
  if (left >= area.width) return;
  ink.save();
  ink.beginPath();
  ink.rect(left, y, area.width - left, height - 1);
  ink.clip();
  ink.beginPath();
  // One grid for all rows, so that the lines go on from row to row.
  const down = area.top + y;
  const first = Math.floor((left + down) / PITCH) * PITCH;
  for (let at = first; at < area.width + down + height; at += PITCH) {
    ink.moveTo(at - down, y);
    ink.lineTo(at - down - height, y + height);
  }
  ink.strokeStyle = colour;
  ink.globalAlpha = 0.5;
  ink.lineWidth = 1;
  ink.stroke();
  ink.restore();
}
