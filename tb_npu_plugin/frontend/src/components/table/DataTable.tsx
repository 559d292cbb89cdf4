/**
 * The table of every view: pages come from the backend, which also sorts, filters and groups; how
 * the table stands is in the address.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, apiUrl, type Query, type Reply } from '../../api/client';
import type { Column, Table } from '../../api/types.gen';
import { t } from '../../i18n';
import type { Tables } from '../../i18n/types';
import { selectionQuery } from '../../state/query';
import { navigate, type Patch, params } from '../../state/route';
import { Failure } from '../Failure';
import { Notice } from '../Notice';
import { Skeleton } from '../Skeleton';
import { ViewStatus } from '../ViewStatus';
import { viewColumns } from './columns';
import { EmptyTable } from './EmptyTable';
import { addTerm } from './filter';
import { Grid } from './Grid';
import type { ExtraColumn } from './Row';
import { RowDetail, type RowValues } from './RowDetail';
import { sample } from './sample';
import { clickSort, formatSort, parseSort } from './sort';
import { Toolbar } from './Toolbar';
import { usePages } from './usePages';
import { HEAD_HEIGHT, ROW_HEIGHT } from './useScroll';

interface Props<R extends Reply> {
  view: Tables;
  tableOf: (reply: R) => Table;
  title: string;
  note?: (reply: R) => string;
  extra?: (replies: readonly R[]) => ExtraColumn<R>;
  /** MB are 10^6 bytes here. */
  decimal?: boolean;
  controls?: ComponentChildren;
  /** Beside the filter: choices that are written into it. */
  facets?: ComponentChildren;
  /** What the view's own parameters are; the CSV goes without those that only shorten a page. */
  query?: Query;
  paging?: Query;
  /** The page itself tells what state the data is in. */
  stated?: boolean;
  /** More about one row, below its columns. */
  detail?: (row: RowValues) => ComponentChildren;
  /** Below the table. */
  after?: (reply: R) => ComponentChildren;
  legend?: (replies: readonly R[]) => ComponentChildren;
}

/** Changes how the table stands; the rows begin at the top again. */
function change(patch: Patch, mode: 'push' | 'replace' = 'push'): void {
  navigate({ offset: null, ...patch }, mode);
}

const OFFSET_MS = 300;
const TOOLBAR_HEIGHT = 100;
const LEAST_ROWS = 7;

export function DataTable<R extends Reply>(props: Props<R>) {
  const { view, tableOf } = props;
  const { group, sort, filter, columns, offset } = params.value;
  const query = { ...selectionQuery(), ...props.query, group, sort, filter, columns };
  const top = useRef(0);
  const root = useRef<HTMLElement>(null);
  const [open, setOpen] = useState<number | null>(null);
  const startRow = (same: boolean) => (same ? top.current : Number(offset) || 0);
  const { pages, asked, error, stale } = usePages<R>(
    view,
    { ...query, ...props.paging },
    tableOf,
    startRow,
  );
  const first = pages?.first ?? null;
  const table = first ? tableOf(first) : null;
  const rows = table?.total ?? 0;
  const revision = pages?.revision.value;
  const words = t.value;

  // Pages change inside; their revision tells
  const views = useMemo(() => {
    const tables = (pages?.loaded() ?? []).map(tableOf);
    return viewColumns(
      (table?.columns ?? []).filter((column) => table && column.key in table.values),
      (column) => tables.flatMap((page) => sample(page.values[column.key] ?? [])),
      words,
      props.decimal,
    );
  }, [pages, revision, words]);

  useEffect(() => setOpen(null), [asked]);
  const remember = useRememberedOffset();
  const focusGrid = () => root.current?.querySelector<HTMLElement>('.grid')?.focus();
  const focusFilter = () => root.current?.querySelector<HTMLElement>('.filter input')?.focus();
  const byFilter = error instanceof ApiError && error.body.code === 'bad-filter';
  const filterError = byFilter ? error.body : null;
  // Rows of another question are no answer to this one; those of this question still are.
  const blocked = !filterError && (stale || !first) ? error : null;
  const onSort = (column: Column, shift: boolean) =>
    change({ sort: formatSort(clickSort(parseSort(table?.sort ?? ''), column, shift)) });

  return (
    <>
      <section
        class={`card table-card${pages && rows > 0 ? ' has-grid' : ''}`}
        style={`--least:${TOOLBAR_HEIGHT + HEAD_HEIGHT + ROW_HEIGHT * Math.min(rows, LEAST_ROWS)}px`}
        ref={root}
      >
        <Toolbar
          view={view}
          title={props.title}
          note={first && props.note ? props.note(first) : ''}
          meta={first?.meta ?? null}
          table={table}
          filter={filter ?? ''}
          filterError={filterError}
          columnsChosen={columns !== undefined}
          csv={apiUrl(view, { ...query, format: 'csv' })}
          controls={props.controls}
          facets={props.facets}
          legend={pages && props.legend?.(pages.loaded())}
          onGroup={(next) => change({ group: next, sort: null, columns: null })}
          onFilter={(next) => change({ filter: next }, 'replace')}
          onColumns={(keys) => navigate({ columns: keys?.join(',') }, 'replace')}
          onLeaveFilter={focusGrid}
        />
        {first && !props.stated && <ViewStatus meta={first.meta} listed={rows === 0} />}
        <div class={`table-body${open === null ? '' : ' with-detail'}`}>
          {!first && !error && <Skeleton rows={10} />}
          {blocked && <Failure error={blocked} />}
          {filterError && !first && (
            <Notice icon="filter" title={filterError.message}>
              <button type="button" class="button primary" onClick={() => change({ filter: null })}>
                {words.table.clearFilter}
              </button>
            </Notice>
          )}
          {!blocked && first && table && rows === 0 && (
            <EmptyTable
              view={view}
              table={table}
              meta={first.meta}
              onClear={() => change({ filter: null })}
            />
          )}
          {!blocked && pages && table && rows > 0 && (
            <Grid
              pages={pages}
              total={rows}
              views={views}
              // Of a default order only the first key is news.
              sort={parseSort(table.sort).slice(0, sort ? 2 : 1)}
              label={props.title}
              dim={stale || filterError !== null}
              startRow={startRow(false)}
              question={asked}
              extra={props.extra?.(pages.loaded())}
              onSort={onSort}
              onTop={(row) => {
                top.current = row;
                remember(row);
              }}
              onOpen={setOpen}
              onFilter={focusFilter}
            />
          )}
          {open !== null && table && (
            <RowDetail
              route={view}
              query={{ ...query, ...props.paging }}
              row={open}
              columns={table.columns}
              tableOf={tableOf}
              decimal={props.decimal ?? false}
              more={props.detail}
              onFilter={(term) => change({ filter: addTerm(filter ?? '', term) })}
              onClose={() => {
                setOpen(null);
                focusGrid();
              }}
            />
          )}
        </div>
      </section>
      {first && props.after?.(first)}
    </>
  );
}

/** Writes the row at the top edge into the address once scrolling pauses. */
function useRememberedOffset(): (row: number) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (row) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => navigate({ offset: row > 0 ? String(row) : null }, 'replace'),
      OFFSET_MS,
    );
  };
}
