/** A canvas of rows by columns: hovering and the arrow keys tell of a cell, a click or Enter opens it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type HoverContent, hideHover, showHover } from '../components/HoverCard';
import { type Cell, movedIn } from './cells';
import { type Pen, penFor } from './pen';
import { useTheme } from './useTheme';

interface Props {
  width: number;
  height: number;
  rows: number;
  columns: number;
  label: string;
  draw: (pen: Pen) => void;
  /** What `draw` depends on, beside the size and the theme. */
  drawn: readonly unknown[];
  /** The cell under a point of the canvas. */
  find: (x: number, y: number) => Cell | null;
  /** Where a cell is, for the card of one that was reached by key. */
  place: (cell: Cell) => readonly [number, number];
  describe: (row: number, column: number) => HoverContent;
  onPick: (row: number, column: number) => void;
  /** The cell that is told of. */
  onMove?: (cell: Cell | null) => void;
}

export function CellCanvas(props: Props) {
  const { width, height, rows, columns, describe, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [at, setAt] = useState<Cell | null>(null);

  // A new theme has new colours
  useEffect(() => {
    const pen = canvas.current && width > 0 && penFor(canvas.current, width, height);
    if (pen) props.draw(pen);
  }, [...props.drawn, width, height, theme]);

  const move = (cell: Cell | null) => {
    setAt(cell);
    props.onMove?.(cell);
    if (!cell) hideHover();
  };
  const find = (event: MouseEvent): Cell | null => {
    const edge = canvas.current?.getBoundingClientRect();
    return edge ? props.find(event.clientX - edge.left, event.clientY - edge.top) : null;
  };
  const show = (cell: Cell) => {
    move(cell);
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return;
    const [x, y] = props.place(cell);
    showHover({ clientX: edge.left + x, clientY: edge.top + y }, describe(...cell));
  };
  const said = useMemo(() => (at ? spoken(describe(...at)) : ''), [at, describe]);
  return (
    <>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={props.label}
        style={`width:${width}px;height:${height}px`}
        onPointerMove={(event) => {
          const cell = find(event);
          move(cell);
          if (cell) showHover(event, describe(...cell));
        }}
        onPointerLeave={() => move(null)}
        onBlur={() => move(null)}
        onClick={(event) => {
          const cell = find(event);
          if (cell) onPick(...cell);
        }}
        onKeyDown={(event) => {
          const next = movedIn(at, rows, columns, event.key);
          if (next) show(next);
          else if (event.key === 'Enter' && at) onPick(...at);
          else if (event.key === 'Escape') move(null);
          else return;
          event.preventDefault();
        }}
      />
      <span class="sr-only" aria-live="polite">
        {said}
      </span>
    </>
  );
}

function spoken({ title, rows }: HoverContent): string {
  return [title, ...rows.map((each) => `${each.label} ${each.value}`)].join(', ');
}
