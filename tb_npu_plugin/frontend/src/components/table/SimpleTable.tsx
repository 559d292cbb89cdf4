/** A short table that is all there: no paging, no sort; each row may be a door. */
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Table } from '../../api/types.gen';
import { t } from '../../i18n';
import type { Patch } from '../../state/route';
import { Door } from '../Door';
import { CellText, cellClass, ShareBar } from './Cell';
import { type ColumnView, viewColumns } from './columns';

interface Props {
  table: Table;
  label: string;
  /** MB are 10^6 bytes here. */
  decimal?: boolean;
  /** Where a cell leads. */
  door?: (row: number, key: string) => { view: string; patch: Patch; title?: string } | null;
}

export function SimpleTable({ table, label, decimal = false, door }: Props) {
  const words = t.value;
  const views = useMemo(
    () =>
      viewColumns(
        table.columns.filter((column) => column.key in table.values),
        (column) => table.values[column.key] ?? [],
        words,
        decimal,
      ),
    [table, words, decimal],
  );
  const { box, shown } = useFitting(views);
  const rows = Math.max(0, ...Object.values(table.values).map((values) => values.length));
  return (
    <div class="simple-scroll" ref={box}>
      <table class="simple" aria-label={label}>
        <thead>
          <tr>
            {shown.map((view) => (
              <th
                key={view.column.key}
                scope="col"
                class={view.figure ? 'figure' : ''}
                title={view.column.description}
              >
                {view.column.label}
                {view.unit && (
                  <>
                    {' '}
                    <span class="head-unit">({view.unit})</span>
                  </>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, row) => {
            return (
              <tr key={row}>
                {shown.map((view) => {
                  const to = door?.(row, view.column.key) ?? null;
                  const value = table.values[view.column.key]?.[row];
                  const content = <CellText view={view} value={value} />;
                  return (
                    <td key={view.column.key} class={cellClass(view)} title={view.hover(value)}>
                      <ShareBar view={view} value={value} />
                      {to ? (
                        <Door
                          view={to.view}
                          patch={to.patch}
                          {...(to.title ? { title: to.title } : {})}
                        >
                          {content}
                        </Door>
                      ) : (
                        content
                      )}
                    </td>
                  );
                })}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** The columns that fit, from the left; the whole table is a door away. */
function useFitting(views: readonly ColumnView[]) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(Number.POSITIVE_INFINITY);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  let used = 12;
  const shown = views.filter((view, at) => {
    used += view.least;
    return at < 2 || used <= width;
  });
  return { box, shown };
}
