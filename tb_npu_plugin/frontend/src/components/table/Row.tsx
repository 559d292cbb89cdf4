/** One row on screen. It is drawn again only when something in it changes, not with every scroll. */
import { Component, type ComponentChildren } from 'preact';
import { t } from '../../i18n';
import { CellText, cellClass, cellValue, ShareBar } from './Cell';
import type { ColumnView } from './columns';
import type { RowAt } from './pages';

/** A drawn column that is not one of the table's own, after those that say which row it is. */
export interface ExtraColumn<R> {
  width: number;
  head: ComponentChildren;
  cell: (row: RowAt<R>) => ComponentChildren;
  /** Changes when the drawing does. */
  stamp: string;
}

interface Props<R> {
  row: number;
  top: number;
  at: RowAt<R> | null;
  views: readonly ColumnView[];
  extra: ExtraColumn<R> | undefined;
  /** The index of the column that the extra one follows. */
  extraAfter: number;
  /** The active column, or -1. */
  active: number;
  onPick: (column: number) => void;
  onOpen: () => void;
}

export class Row<R> extends Component<Props<R>> {
  override shouldComponentUpdate(next: Readonly<Props<R>>): boolean {
    const now = this.props;
    return (
      next.at?.reply !== now.at?.reply ||
      next.top !== now.top ||
      next.views !== now.views ||
      next.active !== now.active ||
      next.extra?.stamp !== now.extra?.stamp
    );
  }

  override render() {
    const { row, top, at, views, extra, extraAfter, active, onPick, onOpen } = this.props;
    const words = t.value.table;
    return (
      <div
        class={`row${active >= 0 ? ' row-active' : ''}`}
        role="row"
        aria-rowindex={row + 2}
        style={`transform:translateY(${top}px)`}
        onDblClick={onOpen}
      >
        {views.map((view, column) => {
          const value = at ? cellValue(at, view) : null;
          const activeClass = active === column ? ' cell-active' : '';
          return [
            <div
              key={view.column.key}
              id={`c${row}-${column}`}
              role="gridcell"
              class={cellClass(view) + activeClass}
              title={at ? view.hover(value) : ''}
              onClick={() => onPick(column)}
            >
              {at ? (
                <>
                  <ShareBar view={view} value={value} />
                  <CellText view={view} value={value} />
                </>
              ) : (
                <span class="bone" />
              )}
              {column === 0 && (
                <button
                  type="button"
                  class="row-open"
                  tabIndex={-1}
                  title={words.detail}
                  aria-label={words.detail}
                  onClick={onOpen}
                />
              )}
            </div>,
            column === extraAfter && extra && (
              <div key="extra" class="cell cell-extra">
                {at && extra.cell(at)}
              </div>
            ),
          ];
        })}
      </div>
    );
  }
}
