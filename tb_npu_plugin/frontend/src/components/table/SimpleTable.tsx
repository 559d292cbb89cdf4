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
  /** Where a row leads. */
  door?: (row: number) => { view: string; patch: Patch } | null;
}

export function SimpleTable({ table, label, door }: Props) {
  const words = t.value;
  const views = useMemo(
    () =>
      viewColumns(
        table.columns.filter((column) => column.key in table.values),
        (column) => table.values[column.key] ?? [],
        words,
      ),
    [table, words],
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
                {view.unit && <span class="head-unit"> ({view.unit})</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: rows }, (_, row) => {
            const to = door?.(row) ?? null;
            return (
              <tr key={row}>
                {shown.map((view, at) => {
                  const value = table.values[view.column.key]?.[row];
                  const content = <CellText view={view} value={value} />;
                  return (
                    <td key={view.column.key} class={cellClass(view)} title={view.hover(value)}>
                      <ShareBar view={view} value={value} />
                      {at === 0 && to ? (
                        <Door view={to.view} patch={to.patch}>
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
    used += view.width;
    return at < 2 || used <= width;
  });
  return { box, shown };
}
