/** Rank to rank: from down the side, to across the top. A click or Enter takes a cell. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type HoverContent, hideHover, showHover } from '../components/HoverCard';
import { ramp } from '../lib/colour';
import { cellAt, type HeatLayout, heatLayout, LEVELS, levelOf, movedCell, namedRows } from './heat';
import { type Pen, penFor } from './pen';
import { useTheme } from './useTheme';
import { useWidth } from './useWidth';

interface Props {
  /** Short names of the columns, and of the rows, which have more room. */
  names: readonly string[];
  rowNames: readonly string[];
  /** Row by row; null is no link. */
  values: readonly (number | null)[];
  most: number;
  /** A line before this row and column: another group of names begins. */
  breaks: readonly number[];
  label: string;
  keys: string;
  from: string;
  to: string;
  /** What stands in a cell that has room for it. */
  short: (value: number) => string;
  describe: (cell: number) => HoverContent;
  onPick: (cell: number) => void;
}

const HEIGHT = 620;

export function HeatMap(props: Props) {
  const { names, values, most, describe, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useWidth();
  const theme = useTheme();
  const [at, setAt] = useState(-1);
  const n = names.length;
  const longest = (texts: readonly string[]) =>
    7 * Math.max(1, ...texts.map((text) => text.length));
  const room = { row: longest(props.rowNames), column: longest(names) };
  const layout = heatLayout(n, Math.max(200, width), HEIGHT, room);
  const size = {
    width: layout.left + n * layout.cell + 1,
    height: layout.top + n * layout.cell + 1,
  };

  // A new theme has new colours
  useEffect(() => {
    const pen = canvas.current && width > 0 && penFor(canvas.current, size.width, size.height);
    if (pen) draw(pen, props, layout);
  }, [names, values, most, width, theme]);

  const find = (event: MouseEvent) => {
    const edge = canvas.current?.getBoundingClientRect();
    return edge ? cellAt(event.clientX - edge.left, event.clientY - edge.top, n, layout) : -1;
  };
  const leave = () => {
    setAt(-1);
    hideHover();
  };
  const show = (cell: number) => {
    setAt(cell);
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return;
    const clientX = edge.left + layout.left + ((cell % n) + 1) * layout.cell;
    const clientY = edge.top + layout.top + (Math.floor(cell / n) + 1) * layout.cell;
    showHover({ clientX, clientY }, describe(cell));
  };
  const said = useMemo(() => (at < 0 ? '' : spoken(describe(at))), [at, describe]);
  const [src, dst] = [Math.floor(at / n), at % n];
  return (
    <div class="heat" ref={box}>
      <div class="heat-frame" style={`width:${size.width}px`}>
        <span class="heat-from">{props.from} ↓</span>
        <span class="heat-to">{props.to} →</span>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`${props.label}. ${props.keys}`}
          style={`width:${size.width}px;height:${size.height}px`}
          onPointerMove={(event) => {
            const cell = find(event);
            if (cell < 0) return leave();
            setAt(cell);
            showHover(event, describe(cell));
          }}
          onPointerLeave={leave}
          onBlur={leave}
          onClick={(event) => {
            const cell = find(event);
            if (cell >= 0 && values[cell] !== null) onPick(cell);
          }}
          onKeyDown={(event) => {
            const next = movedCell(at, n, event.key);
            if (next !== null) show(next);
            else if (event.key === 'Enter' && at >= 0) onPick(at);
            else if (event.key === 'Escape') leave();
            else return;
            event.preventDefault();
          }}
        />
        {at >= 0 && (
          <>
            <i class="heat-row" style={place(layout, 0, src, n, 1)} />
            <i class="heat-column" style={place(layout, dst, 0, 1, n)} />
          </>
        )}
      </div>
      <span class="sr-only" aria-live="polite">
        {said}
      </span>
    </div>
  );
}

/** The scale's colours of the theme that is on screen. */
export function heatRamp(colour: (token: string) => string): string[] {
  return ramp(colour('heat-low'), colour('heat-high'), LEVELS);
}

function place(
  { left, top, cell }: HeatLayout,
  x: number,
  y: number,
  w: number,
  h: number,
): string {
  return `left:${left + x * cell}px;top:${top + y * cell}px;width:${w * cell}px;height:${h * cell}px`;
}

function draw(pen: Pen, props: Props, layout: HeatLayout): void {
  const { names, values, most, short } = props;
  const { context, colour } = pen;
  const { cell, gap, left, top } = layout;
  const n = names.length;
  const colours = heatRamp(colour);
  context.fillStyle = colour('heat-none');
  context.fillRect(left, top, n * cell, n * cell);
  context.textAlign = 'center';
  const written = cell >= 40;
  values.forEach((value, index) => {
    if (value === null) return;
    const level = levelOf(value, most);
    const x = left + (index % n) * cell;
    const y = top + Math.floor(index / n) * cell;
    context.fillStyle = colours[level] ?? '';
    context.fillRect(x, y, cell - gap, cell - gap);
    if (!written) return;
    context.fillStyle = colour(level > LEVELS * 0.5 ? 'panel' : 'ink');
    context.fillText(short(value), x + cell / 2, y + cell / 2);
  });
  drawNames(pen, props, layout);
  context.fillStyle = colour(cell >= 8 ? 'ink3' : 'free');
  for (const at of props.breaks) {
    context.fillRect(left + at * cell - 1, top, 1, n * cell);
    context.fillRect(left, top + at * cell - 1, n * cell, 1);
  }
}

function drawNames({ context, colour }: Pen, props: Props, layout: HeatLayout): void {
  const { cell, left, top, every } = layout;
  context.fillStyle = colour('ink3');
  context.textAlign = 'right';
  for (const at of namedRows(props.names.length, props.breaks, cell)) {
    context.fillText(props.rowNames[at] ?? '', left - 5, top + (at + 0.5) * cell, left - 6);
  }
  context.textAlign = 'center';
  props.names.forEach((name, at) => {
    if (at % every === 0) context.fillText(name, left + (at + 0.5) * cell, top - 8);
  });
}

function spoken({ title, rows }: HoverContent): string {
  return [title, ...rows.map((row) => `${row.label} ${row.value}`)].join(', ');
}
