/** Column heads: label, unit, sort. */
import type { Column } from '../../api/types.gen';
import { t } from '../../i18n';
import type { ColumnView } from './columns';
import type { SortKey } from './sort';

interface Props {
  view: ColumnView;
  sort: readonly SortKey[];
  onSort: ((column: Column, shift: boolean) => void) | null;
}

export function HeadCell({ view, sort, onSort }: Props) {
  const { column, unit } = view;
  const words = t.value.table;
  const at = sort.findIndex((key) => key.key === column.key);
  const direction = at < 0 ? undefined : sort[at]?.descending ? 'descending' : 'ascending';
  const label = (
    <span class="head-label">
      {column.label}
      {unit && <span class="head-unit"> ({unit})</span>}
    </span>
  );
  const title = [column.description, column.sortable && onSort ? words.sortHint : '']
    .filter(Boolean)
    .join('\n');
  return (
    <div
      class={`head-cell${view.figure ? ' figure' : ''}`}
      role="columnheader"
      {...(direction ? { 'aria-sort': direction } : {})}
      title={title}
    >
      {column.sortable && onSort ? (
        <button type="button" onClick={(event) => onSort(column, event.shiftKey)}>
          {label}
          <span class="sort-mark" aria-hidden="true">
            {direction && (direction === 'descending' ? '▾' : '▴')}
            {direction && sort.length > 1 && <sub>{at + 1}</sub>}
          </span>
        </button>
      ) : (
        label
      )}
    </div>
  );
}
