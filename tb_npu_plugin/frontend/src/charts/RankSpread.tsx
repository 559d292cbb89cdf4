/** How ranks are distributed: a strip per measure, a dot per rank, the middle half in a box. */
import { useMemo } from 'preact/hooks';
import type { HoverContent } from '../components/HoverCard';
import { CellCanvas } from './CellCanvas';
import type { Pen } from './pen';
import { OUTLIER } from './rankMapLayout';
import { type Dot, nearestDot, type SpreadAxis, spreadAxis, spreadDots } from './rankSpreadLayout';
import { useWidth } from './useWidth';

export interface SpreadStrip {
  label: string;
  values: readonly (number | null)[];
  scores: readonly (number | null)[];
  least: number;
  median: number;
  most: number;
  quartiles: readonly number[] | null;
  text: (value: number) => string;
}

interface Props {
  names: readonly string[];
  strips: readonly SpreadStrip[];
  label: string;
  describe: (row: number, column: number) => HoverContent;
  onPick: (row: number, column: number) => void;
}

interface Placed {
  strip: SpreadStrip;
  axis: SpreadAxis;
  dots: readonly Dot[];
}

const LABEL = 150;
const PAD = 14;
const ROW = 54;
const STRIP = 30;
/** The middle of the strip in its row. */
const MIDDLE = 19;
const DOT = 6;
/** More names than these beside dots are a blur. */
const NAMED = 4;

export function RankSpread({ names, strips, label, describe, onPick }: Props) {
  const { box, width } = useWidth();
  const length = Math.max(120, width - LABEL - 2 * PAD);
  const placed = useMemo(
    () =>
      strips.map((strip) => {
        const axis = spreadAxis(strip.least, strip.median, strip.most);
        const size = strip.values.length > 200 ? 3 : DOT;
        return { strip, axis, dots: spreadDots(strip.values, axis, length, STRIP, size) };
      }),
    [strips, length],
  );
  return (
    <div class="rank-map" ref={box}>
      <div class="rank-map-body">
        <CellCanvas
          width={width}
          height={strips.length * ROW}
          rows={names.length}
          columns={strips.length}
          label={label}
          draw={(pen) => {
            for (const [at, each] of placed.entries()) draw(pen, each, at * ROW, length, names);
          }}
          drawn={[names, placed]}
          find={(x, y) => {
            const column = Math.floor(y / ROW);
            const dots = placed[column]?.dots ?? [];
            const dot = nearestDot(dots, x - LABEL - PAD, y - column * ROW - MIDDLE, 8);
            return dot ? [dot.row, column] : null;
          }}
          place={([row, column]) => {
            const dot = placed[column]?.dots.find((each) => each.row === row);
            return [LABEL + PAD + (dot?.x ?? 0), column * ROW + MIDDLE + (dot?.y ?? 0)];
          }}
          describe={describe}
          onPick={onPick}
        />
      </div>
    </div>
  );
}

function draw(
  { context, colour }: Pen,
  { strip, axis, dots }: Placed,
  top: number,
  length: number,
  names: readonly string[],
): void {
  const left = LABEL + PAD;
  const middle = top + MIDDLE;
  const place = (value: number) => left + ((value - axis.low) / (axis.high - axis.low)) * length;
  context.fillStyle = colour('ink');
  context.textAlign = 'right';
  context.fillText(strip.label, LABEL, middle, LABEL - 4);
  context.fillStyle = colour('line');
  context.fillRect(left, middle, length, 1);
  if (strip.quartiles) {
    const [low = 0, high = 0] = strip.quartiles;
    context.fillStyle = colour('accent-soft');
    context.fillRect(place(low), middle - STRIP / 2, Math.max(2, place(high) - place(low)), STRIP);
  }
  const size = dots.length > 200 ? 2 : DOT - 1;
  for (const dot of dots) {
    context.fillStyle = colour(ink(strip.scores[dot.row] ?? null));
    context.beginPath();
    context.arc(left + dot.x, middle + dot.y, size / 2, 0, 2 * Math.PI);
    context.fill();
  }
  context.fillStyle = colour('accent');
  context.fillRect(place(strip.median) - 0.5, middle - STRIP / 2 - 2, 1.5, STRIP + 4);
  nameRanks(context, colour, strip, dots, names, left, middle);
  context.fillStyle = colour('ink3');
  const foot = middle + STRIP / 2 + 8;
  context.textAlign = 'left';
  context.fillText(strip.text(axis.low), left, foot);
  context.textAlign = 'right';
  context.fillText(strip.text(axis.high), left + length, foot);
  context.textAlign = 'center';
  context.fillText(
    strip.text(strip.median),
    Math.min(place(strip.median), left + length - 110),
    foot,
  );
}

function nameRanks(
  context: CanvasRenderingContext2D,
  colour: (token: string) => string,
  strip: SpreadStrip,
  dots: readonly Dot[],
  names: readonly string[],
  left: number,
  middle: number,
): void {
  const far = dots
    .map((dot) => ({ dot, score: Math.abs(strip.scores[dot.row] ?? 0) }))
    .filter(({ score }) => score >= OUTLIER)
    .sort((a, b) => b.score - a.score);
  if (far.length > NAMED) return;
  const taken: [number, number][] = [];
  for (const { dot } of far) {
    const name = names[dot.row] ?? '';
    const right = (strip.scores[dot.row] ?? 0) > 0;
    // Towards the middle, where there is room; the axis does not run through it.
    const at = left + dot.x + (right ? -8 : 8);
    const wide = context.measureText(name).width + 4;
    const [from, to] = right ? [at - wide, at + 2] : [at - 2, at + wide];
    if (taken.some(([start, end]) => from < end && to > start)) continue;
    taken.push([from, to]);
    context.fillStyle = colour('panel');
    context.fillRect(from, middle - 7, to - from, 14);
    context.fillStyle = colour('ink');
    context.textAlign = right ? 'right' : 'left';
    context.fillText(name, at, middle + dot.y);
  }
}

/** Far from the others, in the colours of the map; else quiet. */
function ink(score: number | null): string {
  if (score === null || Math.abs(score) < OUTLIER) return 'ink3';
  return score > 0 ? 'deviation-above' : 'deviation-below';
}
