/** Rows by columns, coloured by distance from the middle; 8 rows hold their figures, 1,024 a line each. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type HoverContent, hideHover, showHover } from '../components/HoverCard';
import { type Pen, penFor } from './pen';
import { deviationColours, deviationLevel, mapLayout, movedIn, outlierRows } from './rankMapLayout';
import { useTheme } from './useTheme';
import { useWidth } from './useWidth';

export interface MapColumn {
  key: string;
  label: string;
  title: string;
  sort: 'ascending' | 'descending' | 'none';
}

interface Props {
  names: readonly string[];
  columns: readonly MapColumn[];
  /** Row by row; null is unknown. */
  scores: readonly (readonly (number | null)[])[];
  text: (row: number, column: number) => string;
  label: string;
  keys: string;
  describe: (row: number, column: number) => HoverContent;
  onSort: (key: string) => void;
  onPick: (row: number, column: number) => void;
}

export function RankMap(props: Props) {
  const { names, columns, scores, describe, onPick } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useWidth();
  const theme = useTheme();
  const [at, setAt] = useState<[number, number] | null>(null);
  const longest = Math.max(1, ...names.map((name) => name.length));
  const layout = mapLayout(names.length, columns.length, Math.max(300, width), longest);
  const height = names.length * layout.row + 1;

  // A new theme has new colours
  useEffect(() => {
    const pen = canvas.current && width > 0 && penFor(canvas.current, layout.width, height);
    if (pen) draw(pen, props, layout);
  }, [names, scores, width, theme]);

  const find = (event: MouseEvent): [number, number] | null => {
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return null;
    const column = Math.floor((event.clientX - edge.left - layout.left) / layout.column);
    const row = Math.floor((event.clientY - edge.top) / layout.row);
    const inside = row >= 0 && row < names.length && column >= 0 && column < columns.length;
    return inside ? [row, column] : null;
  };
  const leave = () => {
    setAt(null);
    hideHover();
  };
  const show = (cell: [number, number]) => {
    setAt(cell);
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return;
    const clientX = edge.left + layout.left + (cell[1] + 1) * layout.column;
    showHover({ clientX, clientY: edge.top + (cell[0] + 1) * layout.row }, describe(...cell));
  };
  const said = useMemo(() => (at ? spoken(describe(...at)) : ''), [at, describe]);
  return (
    <div class="rank-map" ref={box}>
      <div class="rank-map-head" style={`padding-left:${layout.left}px`}>
        {columns.map((column) => (
          <button
            key={column.key}
            type="button"
            class="rank-map-label"
            style={`width:${layout.column}px`}
            title={column.title}
            aria-pressed={column.sort !== 'none'}
            onClick={() => props.onSort(column.key)}
          >
            {column.label}
            {column.sort === 'none' ? '' : column.sort === 'descending' ? ' ↓' : ' ↑'}
          </button>
        ))}
      </div>
      <div class="rank-map-body">
        <canvas
          ref={canvas}
          tabIndex={0}
          role="img"
          aria-label={`${props.label}. ${props.keys}`}
          style={`width:${layout.width}px;height:${height}px`}
          onPointerMove={(event) => {
            const cell = find(event);
            if (!cell) return leave();
            setAt(cell);
            showHover(event, describe(...cell));
          }}
          onPointerLeave={leave}
          onBlur={leave}
          onClick={(event) => {
            const cell = find(event);
            if (cell) onPick(...cell);
          }}
          onKeyDown={(event) => {
            const next = movedIn(at, names.length, columns.length, event.key);
            if (next) show(next);
            else if (event.key === 'Enter' && at) onPick(...at);
            else if (event.key === 'Escape') leave();
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <span class="sr-only" aria-live="polite">
        {said}
      </span>
    </div>
  );
}

function draw({ context, colour }: Pen, props: Props, layout: ReturnType<typeof mapLayout>): void {
  const { names, scores } = props;
  const { left, row, column, gap, every } = layout;
  const colours = deviationColours(colour);
  const figures = row >= 18 && column >= 52;
  scores.forEach((line, y) => {
    line.forEach((score, x) => {
      const level = score === null ? null : deviationLevel(score);
      context.fillStyle = level === null ? colour('heat-none') : (colours[level] ?? '');
      context.fillRect(left + x * column, y * row, column - 1, row - gap);
      if (!figures) return;
      const strong = score !== null && Math.abs(score) > 5;
      context.fillStyle = colour(strong ? 'on-accent' : 'ink');
      context.textAlign = 'right';
      const text = props.text(y, x);
      context.fillText(text, left + (x + 1) * column - 8, (y + 0.5) * row, column - 10);
    });
  });
  context.textAlign = 'right';
  context.fillStyle = colour('ink2');
  for (let y = 0; y < names.length; y += every) {
    context.fillText(names[y] ?? '', left - 10, Math.max(6, (y + 0.5) * row), left - 12);
  }
  // At a line a rank an outlier is easily overlooked: a mark beside it is not.
  context.fillStyle = colour('error');
  for (const y of outlierRows(scores)) {
    context.fillRect(left - 6, y * row, 4, Math.max(2, row - gap));
  }
}

function spoken({ title, rows }: HoverContent): string {
  return [title, ...rows.map((each) => `${each.label} ${each.value}`)].join(', ');
}
