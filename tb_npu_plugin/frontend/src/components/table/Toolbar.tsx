/** Above a table: what it is, how it is grouped and filtered, which columns, and the CSV. */
import type { ComponentChildren } from 'preact';
import type { ErrorBody, Meta, Table } from '../../api/types.gen';
import { t } from '../../i18n';
import type { Tables } from '../../i18n/types';
import { Icon } from '../Icon';
import { Segmented } from '../Segmented';
import { ColumnChooser } from './ColumnChooser';
import { FilterBox } from './FilterBox';
import { Source } from './Source';

interface Props {
  view: Tables;
  title: string;
  note: string;
  meta: Meta | null;
  table: Table | null;
  filter: string;
  filterError: ErrorBody | null;
  columnsChosen: boolean;
  csv: string;
  controls: ComponentChildren;
  facets: ComponentChildren;
  legend: ComponentChildren;
  onGroup: (group: string) => void;
  onFilter: (filter: string) => void;
  onColumns: (keys: string[] | null) => void;
  onLeaveFilter: () => void;
}

export function Toolbar(props: Props) {
  const { table, title, note } = props;
  const words = t.value.table;
  // Without a row there is nothing to group or to choose; the body says why.
  const some = table !== null && table.unfiltered > 0;
  // … unless only this grouping has none.
  const grouped =
    table !== null && table.groups.length > 0 && (some || !table.groups.includes(table.group));
  const filtered = some && table.total !== table.unfiltered;
  return (
    <header class="toolbar">
      <div class="toolbar-row">
        <h2>{title}</h2>
        {some && (filtered || !note) && (
          <span class="quiet nowrap">{rowCount(props.view, table)}</span>
        )}
        <span class="quiet note" title={note}>
          {note}
        </span>
        {props.meta && <Source meta={props.meta} />}
        {props.controls}
        {some && (
          <ColumnChooser table={table} chosen={props.columnsChosen} onChange={props.onColumns} />
        )}
        {some && (
          <a class="button" href={props.csv} download title={words.csvHint}>
            <Icon name="download" />
            {words.csv}
          </a>
        )}
      </div>
      <div class="toolbar-row wrap">
        {grouped && (
          <Segmented
            label={words.groupBy}
            value={table.group}
            options={['', ...table.groups.filter((group) => group !== '')].map((group) => ({
              value: group,
              text: words.groups[group] ?? group,
            }))}
            onChoose={props.onGroup}
          />
        )}
        {(some || props.filter) && (
          <FilterBox
            value={props.filter}
            error={props.filterError}
            onChange={props.onFilter}
            onLeave={props.onLeaveFilter}
          />
        )}
        {some && props.facets}
        {props.legend}
      </div>
    </header>
  );
}

/** Groupings whose rows are no groups. */
const ROWS_OF: Readonly<Record<string, Tables | 'link'>> = { alive: 'memory', matrix: 'link' };

function rowCount(view: Tables, table: Table): string {
  const words = t.value.table;
  const name = words.rows[ROWS_OF[table.group] ?? (table.group ? 'group' : view)];
  return table.total === table.unfiltered
    ? name(table.total)
    : words.ofRows(table.total, table.unfiltered);
}
