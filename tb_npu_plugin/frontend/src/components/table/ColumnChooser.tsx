/** Which columns are shown. The choice is in the address, so a link shows the same ones. */
import { useState } from 'preact/hooks';
import type { Table } from '../../api/types.gen';
import { t } from '../../i18n';
import { Popover } from '../Popover';

interface Props {
  table: Table;
  /** The choice in the address, if there is one. */
  chosen: boolean;
  /** Keys to show, or null for the default. */
  onChange: (keys: string[] | null) => void;
}

const SEARCH_FROM = 10;

export function ColumnChooser({ table, chosen, onChange }: Props) {
  const words = t.value.table;
  const [search, setSearch] = useState('');
  const shown = new Set(Object.keys(table.values));
  const wanted = search.trim().toLowerCase();
  const found = table.columns.filter((column) =>
    `${column.label} ${column.key}`.toLowerCase().includes(wanted),
  );
  const toggle = (key: string) => {
    const keys = table.columns.map((column) => column.key);
    const next = keys.filter((other) => (other === key ? !shown.has(key) : shown.has(other)));
    if (next.length > 0) onChange(next);
  };
  return (
    <Popover label={words.columns} icon="columns" width={300} class="right">
      {() => (
        <>
          {table.columns.length >= SEARCH_FROM && (
            <input
              type="search"
              class="input"
              data-autofocus
              placeholder={words.columnSearch}
              aria-label={words.columnSearch}
              value={search}
              onInput={(event) => setSearch(event.currentTarget.value)}
            />
          )}
          <div class="option-list">
            {found.map((column) => (
              <label key={column.key} class="option check" title={column.description}>
                <input
                  type="checkbox"
                  checked={shown.has(column.key)}
                  onChange={() => toggle(column.key)}
                />
                <span>{column.label}</span>
                <code class="option-note">{column.key}</code>
              </label>
            ))}
          </div>
          <button type="button" class="button" disabled={!chosen} onClick={() => onChange(null)}>
            {words.columnDefault}
          </button>
        </>
      )}
    </Popover>
  );
}
