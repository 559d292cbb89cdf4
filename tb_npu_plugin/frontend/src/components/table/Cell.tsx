/** One cell: a figure, a tag, a share bar or text. */
import { elide, visible } from '../../lib/text';
import type { ColumnView } from './columns';
import type { RowAt } from './pages';

const DRAWN = 300;

export function CellText({ view, value }: { view: ColumnView; value: unknown }) {
  const shown = view.text(value);
  if (view.figure) return <>{shown}</>;
  const text = elide(visible(shown), DRAWN);
  if (view.column.kind === 'core' && value) return <span class="tag">{text}</span>;
  return <bdi>{text}</bdi>;
}

export function ShareBar({ view, value }: { view: ColumnView; value: unknown }) {
  if (!view.share) return null;
  const share = view.share(value);
  if (share === 0) return null;
  return (
    <span
      class={`share c-${view.column.concept ?? 'accent'}`}
      style={`width:${(share * 100).toFixed(1)}%`}
    />
  );
}

/** The classes of a cell, shared by the long table and the short one. */
export function cellClass(view: ColumnView): string {
  const { kind } = view.column;
  return `cell k-${kind}${view.figure ? ' figure' : ''}`;
}

export function cellValue<R>(at: RowAt<R> | null, view: ColumnView): unknown {
  return at?.table.values[view.column.key]?.[at.index];
}
