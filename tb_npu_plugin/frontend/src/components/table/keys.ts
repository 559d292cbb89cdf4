/** What keys do in a table. */

import { t } from '../../i18n';
import { copyText } from '../../lib/copy';
import { plain } from '../../lib/format';
import { elide, visible } from '../../lib/text';
import { say } from '../Toast';
import type { ColumnView } from './columns';

export interface Cursor {
  row: number;
  column: number;
}

interface Grid {
  cursor: Cursor;
  total: number;
  columns: number;
  /** Rows that Page Down moves by. */
  page: number;
  views: readonly ColumnView[];
  view: (column: number) => ColumnView | null;
  value: (row: number, view: ColumnView) => unknown;
  move: (next: Cursor) => void;
  open: (row: number) => void;
  filter: () => void;
}

export function gridKey(event: KeyboardEvent, grid: Grid): void {
  if (event.target !== event.currentTarget) return; // a button inside has its own keys
  if (
    event.altKey ||
    event.metaKey ||
    (event.ctrlKey && event.key !== 'Home' && event.key !== 'End')
  ) {
    return;
  }
  const next = moved(event, grid);
  if (next) grid.move(next);
  else if (!acted(event.key, grid)) return;
  event.preventDefault();
}

export function moved(event: Pick<KeyboardEvent, 'key' | 'ctrlKey'>, grid: Grid): Cursor | null {
  const { row, column } = grid.cursor;
  if (grid.total === 0) return null;
  const to = (nextRow: number, nextColumn = column): Cursor => ({
    row: Math.max(0, Math.min(grid.total - 1, nextRow)),
    column: Math.max(0, Math.min(grid.columns - 1, nextColumn)),
  });
  switch (event.key) {
    case 'ArrowDown':
      return to(row + 1);
    case 'ArrowUp':
      return to(row - 1);
    case 'ArrowRight':
      return to(row, column + 1);
    case 'ArrowLeft':
      return to(row, column - 1);
    case 'PageDown':
      return to(row + grid.page);
    case 'PageUp':
      return to(row - grid.page);
    case 'Home':
      return event.ctrlKey ? to(0, 0) : to(0);
    case 'End':
      return to(grid.total - 1);
    default:
      return null;
  }
}

function acted(key: string, grid: Grid): boolean {
  const { row, column } = grid.cursor;
  if (key === '/') {
    grid.filter();
    return true;
  }
  if (row < 0) return false;
  if (key === 'Enter') {
    grid.open(row);
    return true;
  }
  const view = grid.view(column);
  if (key === 'c' && view) {
    void copied(plainValue(view, grid.value(row, view)));
    return true;
  }
  if (key === 'C') {
    void copied(grid.views.map((each) => plainValue(each, grid.value(row, each))).join('\t'));
    return true;
  }
  return false;
}

async function copied(text: string): Promise<void> {
  const words = t.value;
  say((await copyText(text)) ? `${words.copied}: ${elide(visible(text), 60)}` : words.copyFailed);
}

/** For the clipboard: words as they are in the file, figures as they are read. */
export function plainValue(view: ColumnView, value: unknown): string {
  if (typeof value === 'string') return value;
  return plain(view.text(value)) + (view.unit && typeof value === 'number' ? ` ${view.unit}` : '');
}
