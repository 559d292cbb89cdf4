/** One row with all its columns, exact values and what can be done with each. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { apiUrl, type Query, type Reply } from '../../api/client';
import type { Table } from '../../api/types.gen';
import { t } from '../../i18n';
import { isKnownView } from '../../state/known';
import { standing, view } from '../../state/route';
import { useReply } from '../../state/useReply';
import { CopyButton } from '../CopyButton';
import { Door } from '../Door';
import { Failure } from '../Failure';
import { Icon } from '../Icon';
import { Skeleton } from '../Skeleton';
import { LongText } from '../Text';
import { type ColumnView, viewColumn } from './columns';
import { termFor } from './filter';
import { plainValue } from './keys';

interface Props<R extends Reply> {
  route: string;
  query: Query;
  row: number;
  columns: Table['columns'];
  tableOf: (reply: R) => Table;
  decimal: boolean;
  more: ((row: RowValues) => ComponentChildren) | undefined;
  onFilter: (term: string) => void;
  onClose: () => void;
}

/** A row's values, by the keys of its columns. */
export type RowValues = Readonly<Record<string, unknown>>;

export function RowDetail<R extends Reply>(props: Props<R>) {
  const { row, columns, tableOf, onClose } = props;
  const words = t.value;
  const query = {
    ...props.query,
    columns: columns.map((column) => column.key).join(','),
    offset: row,
    limit: 1,
  };
  const { reply, error } = useReply<R>(props.route, query);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  const table = reply ? tableOf(reply) : null;
  const cells = (table?.columns ?? [])
    .map((column) => ({
      view: viewColumn(column, [], words, 1, props.decimal),
      value: table?.values[column.key]?.[0],
    }))
    .filter((cell) => cell.value !== undefined);
  return (
    <aside
      class="detail"
      ref={panel}
      tabIndex={-1}
      aria-label={`${words.table.detail} ${row + 1}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <header>
        <h3>
          {words.table.detail} {(row + 1).toLocaleString('en-US')}
        </h3>
        <CopyButton
          class="icon-button"
          title={words.table.copyRow}
          text={() =>
            cells
              .map(({ view, value }) => `${view.column.label}\t${plainValue(view, value)}`)
              .join('\n')
          }
        />
        <button
          type="button"
          class="icon-button"
          title={words.close}
          aria-label={words.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      {error && <Failure error={error} />}
      {!reply && !error && <Skeleton rows={10} head={false} />}
      {table && <InTimeline base={table.base_ns} cells={cells} />}
      <dl key={apiUrl(props.route, query)}>
        {cells.map(({ view, value }) => (
          <Field key={view.column.key} view={view} value={value} onFilter={props.onFilter} />
        ))}
      </dl>
      {table &&
        props.more?.(Object.fromEntries(cells.map(({ view, value }) => [view.column.key, value])))}
    </aside>
  );
}

interface InTimelineProps {
  base: string | null;
  cells: readonly { view: ColumnView; value: unknown }[];
}

/** A row with a name and a moment is an event: the way to it. */
function InTimeline({ base, cells }: InTimelineProps) {
  const of = (kind: string) => cells.find(({ view }) => view.column.kind === kind)?.value;
  const [time, name, rank] = [of('time'), of('name'), of('rank')];
  if (base === null || typeof time !== 'number' || typeof name !== 'string') return null;
  if (!isKnownView('timeline')) return null;
  const moment = { at: String(BigInt(base) + BigInt(Math.round(time))), name };
  const here = view.value === 'timeline';
  const patch = here
    ? standing(moment)
    : { ...moment, ...(typeof rank === 'number' ? { rank: String(rank) } : {}) };
  return (
    <p class="detail-door">
      <Door view="timeline" patch={patch}>
        {t.value.range.inTimeline}
      </Door>
    </p>
  );
}

interface FieldProps {
  view: ColumnView;
  value: unknown;
  onFilter: (term: string) => void;
}

function Field({ view, value, onFilter }: FieldProps) {
  const words = t.value.table;
  const term = termFor(view.column, value);
  const [exact] = view.hover(value).split('\n');
  const shown = view.text(value);
  // A call stack has the panel's whole width.
  const wide = !view.figure && (shown.length > 120 || shown.includes('\n')) ? 'wide' : '';
  return (
    <>
      <dt class={wide} title={view.column.description}>
        {view.column.label}
      </dt>
      <dd class={wide}>
        <span class="detail-value">
          <LongText text={shown} />
          {typeof value === 'number' && exact !== shown && <span class="quiet"> {exact}</span>}
        </span>
        {value !== null && (
          <CopyButton class="icon-button" title={words.copyValue} text={() => String(value)} />
        )}
        {term && (
          <button
            type="button"
            class="icon-button"
            title={`${words.filterBy}: ${term.slice(0, 80)}`}
            aria-label={words.filterBy}
            onClick={() => onFilter(term)}
          >
            <Icon name="filter" />
          </button>
        )}
      </dd>
    </>
  );
}
