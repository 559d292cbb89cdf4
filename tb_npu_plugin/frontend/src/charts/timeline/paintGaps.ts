/** Idle gaps of the device: a dotted line through each, and how long it is where there is room. */
import type { Run, WindowData } from '../../api/timelineWindow';
import { formatDuration } from '../../lib/format';
import type { Area, Ink } from './ink';
import { pixelOf, type Strips } from './strips';

/** Of the line, in pixels of the screen. */
const DOT = 2;
const PITCH = 5;
/** At either end, so that it touches no slice. */
const AIR = 3;
/** Narrower ones are left blank, and only wider ones say how long they are. */
const LEAST = 10;
const WRITTEN = 84;

export function paintGaps(
  strips: Strips,
  area: Area,
  data: WindowData,
  runs: readonly Run[],
  middle: number,
  colour: string,
): void {
  const scale = (area.width / (area.span[1] - area.span[0])) * area.ratio;
  const ratio = Math.max(1, Math.round(area.ratio));
  const pixel = pixelOf(colour);
  strips.begin(Math.floor(middle), 1);
  for (const run of runs) {
    for (let i = run.first; i < run.end; i++) {
      const [left, right] = extentOf(data, i, area, scale);
      if (right - left < LEAST * ratio) continue;
      const begin = left + AIR * ratio;
      const pitch = PITCH * ratio;
      const last = Math.min(right - AIR * ratio, strips.width) - DOT * ratio;
      for (let x = begin + Math.max(0, Math.ceil(-begin / pitch)) * pitch; x <= last; x += pitch) {
        strips.fill(x, x + DOT * ratio, pixel);
      }
    }
  }
}

/** After the line, on the ground. */
export function nameGaps(
  ink: Ink,
  area: Area,
  data: WindowData,
  runs: readonly Run[],
  middle: number,
  [colour, ground]: readonly [colour: string, ground: string],
): void {
  const scale = area.width / (area.span[1] - area.span[0]);
  for (const run of runs) {
    for (let i = run.first; i < run.end; i++) {
      const [left, right] = extentOf(data, i, area, scale);
      if (right - left < WRITTEN) continue;
      const text = formatDuration(data.gapDuration[i] as number);
      const wide = ink.measureText(text).width;
      const x = (left + right - wide) / 2;
      ink.fillStyle = ground;
      ink.fillRect(x - 4, middle - 5, wide + 8, 10);
      ink.fillStyle = colour;
      ink.fillText(text, x, middle + 0.5);
    }
  }
}

function extentOf(data: WindowData, gap: number, area: Area, scale: number) {
  const begin = data.from + (data.gapStart[gap] as number) * data.tick;
  const left = Math.round((begin - area.span[0]) * scale);
  return [left, left + Math.round((data.gapLength[gap] as number) * data.tick * scale)] as const;
}
