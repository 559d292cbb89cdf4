/** Rows by columns, coloured by distance from the middle; 8 rows hold their figures, 1,024 a line each. */
import type { HoverContent } from '../components/HoverCard';
import { CellCanvas } from './CellCanvas';
import type { Pen } from './pen';
import { deviationColours, deviationLevel, mapLayout, outlierRows } from './rankMapLayout';
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
  describe: (row: number, column: number) => HoverContent;
  onSort: (key: string) => void;
  onPick: (row: number, column: number) => void;
}

export function RankMap(props: Props) {
  const { names, columns, scores } = props;
  const { box, width } = useWidth();
  const longest = Math.max(1, ...names.map((name) => name.length));
  const layout = mapLayout(names.length, columns.length, Math.max(300, width), longest);
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
        <CellCanvas
          width={width > 0 ? layout.width : 0}
          height={names.length * layout.row + 1}
          rows={names.length}
          columns={columns.length}
          label={props.label}
          draw={(pen) => draw(pen, props, layout)}
          drawn={[names, scores]}
          find={(x, y) => {
            const column = Math.floor((x - layout.left) / layout.column);
            const row = Math.floor(y / layout.row);
            const inside = row >= 0 && row < names.length && column >= 0 && column < columns.length;
            return inside ? [row, column] : null;
          }}
          place={([row, column]) => [
            layout.left + (column + 1) * layout.column,
            (row + 1) * layout.row,
          ]}
          describe={props.describe}
          onPick={props.onPick}
        />
      </div>
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
