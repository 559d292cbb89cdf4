/** One measure step by step: a line per rank over the middle half of them. */
import { useMemo, useState } from 'preact/hooks';
import type { HoverContent } from '../components/HoverCard';
import { roundStep } from '../lib/ticks';
import { CellCanvas } from './CellCanvas';
import type { Cell } from './cells';
import type { Pen } from './pen';
import { type LinesAxis, labelPlaces, linesAxis, nearestRow } from './rankLinesLayout';
import { OUTLIER } from './rankMapLayout';
import { useWidth } from './useWidth';

/** One step: a value and a score per rank. */
export interface LinesColumn {
  label: string;
  values: readonly (number | null)[];
  scores: readonly (number | null)[];
  median: number | null;
  quartiles: readonly number[] | null;
}

interface Props {
  names: readonly string[];
  columns: readonly LinesColumn[];
  text: (value: number) => string;
  label: string;
  describe: (row: number, column: number) => HoverContent;
  onPick: (row: number, column: number) => void;
}

const LEFT = 76;
const RIGHT = 90;
const TOP = 10;
const HEIGHT = 300;
const FOOT = 24;
/** So few lines are all named. */
const FEW = 8;

export function RankLines(props: Props) {
  const { names, columns } = props;
  const { box, width } = useWidth();
  const [at, setAt] = useState<Cell | null>(null);
  const axis = useMemo(() => linesAxis(columns.flatMap((each) => each.values)), [columns]);
  const length = Math.max(120, width - LEFT - RIGHT);
  const scale = scaleOf(axis, columns.length, length);
  const strong = useMemo(() => outliers(columns, names.length), [columns, names]);
  return (
    <div class="rank-map" ref={box}>
      <CellCanvas
        width={width}
        height={TOP + HEIGHT + FOOT}
        rows={names.length}
        columns={columns.length}
        label={props.label}
        draw={(pen) => draw(pen, props, scale, strong, at?.[0] ?? null)}
        drawn={[names, columns, at?.[0]]}
        find={(pointX, pointY) => {
          const part = columns.length > 1 ? (pointX - LEFT) / length : 0;
          const column = Math.round(part * (columns.length - 1));
          const perPixel = (axis.high - axis.low) / HEIGHT;
          const value = axis.low + (TOP + HEIGHT - pointY) * perPixel;
          const row = nearestRow(columns[column]?.values ?? [], value, 12 * perPixel);
          return row === null ? null : [row, column];
        }}
        place={([row, column]) => [
          scale.x(column),
          scale.y(columns[column]?.values[row] ?? axis.low),
        ]}
        describe={props.describe}
        onPick={props.onPick}
        onMove={setAt}
      />
    </div>
  );
}

interface Scale {
  axis: LinesAxis;
  length: number;
  x: (column: number) => number;
  y: (value: number) => number;
}

function scaleOf(axis: LinesAxis, columns: number, length: number): Scale {
  return {
    axis,
    length,
    x: (column) => LEFT + (columns > 1 ? (column / (columns - 1)) * length : length / 2),
    y: (value) => TOP + HEIGHT - ((value - axis.low) / (axis.high - axis.low)) * HEIGHT,
  };
}

/** Ranks that stand out in some step. */
function outliers(columns: readonly LinesColumn[], ranks: number): number[] {
  return Array.from({ length: ranks }, (_, row) => row).filter((row) =>
    columns.some(({ scores }) => Math.abs(scores[row] ?? 0) >= OUTLIER),
  );
}

function draw(
  { context, colour }: Pen,
  { names, columns, text }: Props,
  scale: Scale,
  strong: readonly number[],
  hovered: number | null,
): void {
  const { axis, length, x, y } = scale;
  const step = roundStep(axis.high - axis.low, 5);
  context.textAlign = 'right';
  for (let value = Math.ceil(axis.low / step) * step; value <= axis.high; value += step) {
    context.fillStyle = colour('line');
    context.fillRect(LEFT, Math.round(y(value)), length, 1);
    context.fillStyle = colour('ink3');
    context.fillText(text(value), LEFT - 8, y(value));
  }
  context.textAlign = 'center';
  const every = Math.max(1, Math.ceil(columns.length / Math.max(1, Math.floor(length / 56))));
  columns.forEach(({ label }, at) => {
    if (at % every === 0) context.fillText(label, x(at), TOP + HEIGHT + 12);
  });
  band(context, colour('accent-soft'), columns, scale);
  const few = names.length <= FEW;
  const path = (row: number, token: string, width: number, alpha: number) => {
    context.strokeStyle = colour(token);
    context.lineWidth = width;
    context.globalAlpha = alpha;
    line(
      context,
      columns.map((each) => each.values[row] ?? null),
      scale,
    );
    context.globalAlpha = 1;
  };
  const end = (row: number) =>
    y(columns.findLast((each) => each.values[row] !== null)?.values[row] ?? axis.low);
  const faint = few ? 1 : Math.max(0.08, Math.min(0.5, 24 / names.length));
  names.forEach((_, row) => {
    path(row, 'ink3', few ? 1.5 : 1, faint);
  });
  const judged = columns.some((each) => each.quartiles !== null);
  context.strokeStyle = judged ? colour('accent') : 'transparent';
  context.lineWidth = 2;
  line(
    context,
    columns.map((each) => each.median),
    scale,
  );
  for (const row of strong) path(row, 'error', 1.5, 1);
  const named = few ? names.map((_, row) => row) : strong.length <= FEW ? [...strong] : [];
  if (hovered !== null) {
    path(hovered, 'ink', 2.5, 1);
    if (!named.includes(hovered)) named.push(hovered);
  }
  const places = labelPlaces(named.map(end), 12);
  context.textAlign = 'left';
  named.forEach((row, at) => {
    context.fillStyle = colour(row === hovered ? 'ink' : strong.includes(row) ? 'error' : 'ink2');
    context.fillText(names[row] ?? '', LEFT + length + 8, places[at] ?? 0, RIGHT - 10);
  });
}

/** Through what is known; a step without a value interrupts the line, alone it is a point. */
function line(
  context: CanvasRenderingContext2D,
  values: readonly (number | null)[],
  { x, y }: Scale,
): void {
  context.beginPath();
  values.forEach((value, at) => {
    if (value === null) return;
    const before = values[at - 1] ?? null;
    const after = values[at + 1] ?? null;
    if (before !== null) context.lineTo(x(at), y(value));
    else context.moveTo(x(at) - (after === null ? 3 : 0), y(value));
    if (before === null && after === null) context.lineTo(x(at) + 3, y(value));
  });
  context.stroke();
}

/** Between the quartiles, as far as there are any. */
function band(
  context: CanvasRenderingContext2D,
  fill: string,
  columns: readonly LinesColumn[],
  { x, y }: Scale,
): void {
  const known = columns.flatMap(({ quartiles }, at) =>
    quartiles ? [{ at, low: quartiles[0] ?? 0, high: quartiles[1] ?? 0 }] : [],
  );
  context.fillStyle = fill;
  context.beginPath();
  for (const { at, high } of known) context.lineTo(x(at), y(high));
  for (const { at, low } of known.reverse()) context.lineTo(x(at), y(low));
  context.fill();
}
