/** The rows of a long table: only those on screen are drawn, with a sticky head and first column. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import type { Reply } from '../../api/client';
import type { Column } from '../../api/types.gen';
import { t } from '../../i18n';
import { bodyHeight } from '../../lib/window';
import { cellValue } from './Cell';
import type { ColumnView } from './columns';
import { HeadCell } from './Head';
import { type Cursor, gridKey } from './keys';
import type { Pages } from './pages';
import { type ExtraColumn, Row } from './Row';
import type { SortKey } from './sort';
import { HEAD_HEIGHT, ROW_HEIGHT, useScroll } from './useScroll';

const AHEAD = 30;
const SETTLE_MS = 50;

interface Props<R extends Reply> {
  pages: Pages<R>;
  total: number;
  views: readonly ColumnView[];
  sort: readonly SortKey[];
  label: string;
  dim: boolean;
  /** Where to begin; taken anew when `question` changes. */
  startRow: number;
  question: string;
  extra?: ExtraColumn<R> | undefined;
  onSort: (column: Column, shift: boolean) => void;
  onTop: (row: number) => void;
  onOpen: (row: number) => void;
  onFilter: () => void;
}

export function Grid<R extends Reply>(props: Props<R>) {
  const { pages, total, views, extra } = props;
  const scroll = useScroll(total);
  const { first, end, origin } = scroll.window;
  const [cursor, setCursor] = useState<Cursor>({ row: -1, column: 0 });

  // Only another question moves the rows
  useLayoutEffect(() => {
    scroll.goTo(props.startRow);
    setCursor({ row: -1, column: 0 });
  }, [props.question]);
  useEffect(() => {
    // A page that only flies past is not asked for; the next one is, before it is needed.
    const timer = setTimeout(() => pages.want(first - AHEAD, end + AHEAD), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [pages, first, end, pages.revision.value]);
  useEffect(() => {
    document
      .getElementById(`c${cursor.row}-${cursor.column}`)
      ?.scrollIntoView?.({ block: 'nearest', inline: 'nearest' });
  }, [cursor]);
  useEffect(() => props.onTop(Math.floor(scroll.anchor)), [scroll.anchor]);

  const onKeyDown = (event: KeyboardEvent) =>
    gridKey(event, {
      cursor,
      total,
      columns: views.length,
      page: Math.max(1, Math.floor(scroll.geometry.viewport / ROW_HEIGHT) - 1),
      view: (column) => views[column] ?? null,
      views,
      value: (row, view) => cellValue(pages.at(row), view),
      move: (next) => {
        setCursor(next);
        scroll.reveal(next.row);
      },
      open: props.onOpen,
      filter: props.onFilter,
    });

  const last = extra ? leading(views) : -1;
  const rows = [];
  // Rows keep their place while one scrolls past a few hundred: only new ones are drawn.
  const base = Math.floor(first / 500) * 500;
  for (let row = first; row < end; row++) rows.push(row);
  return (
    <div
      class={`grid${props.dim ? ' dim' : ''}`}
      ref={scroll.scroller}
      role="grid"
      tabIndex={0}
      aria-label={props.label}
      aria-description={t.value.table.keys}
      aria-rowcount={total + 1}
      aria-colcount={views.length}
      {...(cursor.row >= 0 ? { 'aria-activedescendant': `c${cursor.row}-${cursor.column}` } : {})}
      style={`--columns:${template(views, extra)};--width:${totalWidth(views, extra)}px;--first:${views[0]?.width ?? 0}px`}
      onKeyDown={onKeyDown}
    >
      <div class="grid-head" role="row" aria-rowindex={1} style={`height:${HEAD_HEIGHT}px`}>
        {views.map((view, at) => (
          <>
            <HeadCell key={view.column.key} view={view} sort={props.sort} onSort={props.onSort} />
            {at === last && extra && <div class="head-cell">{extra.head}</div>}
          </>
        ))}
      </div>
      <div class="grid-body" style={`height:${bodyHeight(scroll.geometry)}px`}>
        <div style={`transform:translateY(${origin + base * ROW_HEIGHT}px)`}>
          {rows.map((row) => (
            <Row
              key={row}
              row={row}
              top={(row - base) * ROW_HEIGHT}
              at={pages.at(row)}
              views={views}
              extra={extra}
              extraAfter={last}
              active={cursor.row === row ? cursor.column : -1}
              onPick={(column) => setCursor({ row, column })}
              onOpen={() => props.onOpen(row)}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

const IDENTITY = new Set<Column['kind']>(['name', 'text', 'step', 'rank', 'device']);

/** The last of the columns at the start that say which row it is. */
function leading(views: readonly ColumnView[]): number {
  const other = views.findIndex((view) => !IDENTITY.has(view.column.kind));
  return Math.max(0, (other < 0 ? views.length : other) - 1);
}

/** The drawn column takes the spare room, else the first column of words. */
function template(views: readonly ColumnView[], extra: ExtraColumn<never> | undefined): string {
  const after = extra ? leading(views) : -1;
  const grows = extra ? -1 : views.findIndex((view) => !view.figure);
  const tracks = views.flatMap((view, at) => [
    at === grows ? `minmax(${view.width}px,1fr)` : `${view.width}px`,
    ...(at === after && extra ? [`minmax(${extra.width}px,1fr)`] : []),
  ]);
  // Without a column that grows, the rest of the row stays empty.
  return grows < 0 && !extra ? `${tracks.join(' ')} 1fr` : tracks.join(' ');
}

function totalWidth(views: readonly ColumnView[], extra: ExtraColumn<never> | undefined): number {
  return views.reduce((sum, view) => sum + view.width, extra?.width ?? 0);
}
