/**
 * Which rows of a long table are on screen, and where.
 *
 * Rows have one height, so a window is two divisions. Browsers limit the height of an element
 * (Chromium 33.5 M px, others less), so a body stops growing at `MAX_HEIGHT`; beyond that the
 * scroll position stands for a share of the table, and `anchor` (the row, with fraction, at the
 * top edge) is the truth: the wheel moves it by whole rows while the bar hardly moves.
 */

export const MAX_HEIGHT = 15_000_000;

export interface Geometry {
  total: number;
  rowHeight: number;
  /** Height of the part of the viewport that shows rows. */
  viewport: number;
}

export interface RowWindow {
  first: number;
  /** One past the last. */
  end: number;
  /** Pixels from the top of the body to row 0 (negative when the body is scaled). */
  origin: number;
}

export function bodyHeight({ total, rowHeight }: Geometry): number {
  return Math.min(total * rowHeight, MAX_HEIGHT);
}

export function isScaled({ total, rowHeight }: Geometry): boolean {
  return total * rowHeight > MAX_HEIGHT;
}

function maxAnchor({ total, rowHeight, viewport }: Geometry): number {
  return Math.max(0, total - viewport / rowHeight);
}

export function clampAnchor(anchor: number, geometry: Geometry): number {
  return Math.min(Math.max(0, anchor), maxAnchor(geometry));
}

/** The row at the top edge for a scroll position. */
export function anchorAt(scrollTop: number, geometry: Geometry): number {
  const range = bodyHeight(geometry) - geometry.viewport;
  if (!isScaled(geometry)) return clampAnchor(scrollTop / geometry.rowHeight, geometry);
  return clampAnchor((scrollTop / range) * maxAnchor(geometry), geometry);
}

/** The scroll position that puts `anchor` at the top edge. */
export function scrollFor(anchor: number, geometry: Geometry): number {
  const row = clampAnchor(anchor, geometry);
  if (!isScaled(geometry)) return row * geometry.rowHeight;
  const range = bodyHeight(geometry) - geometry.viewport;
  return (row / maxAnchor(geometry)) * range;
}

/** The rows to draw around `anchor`, with `overscan` more on each side. */
export function rowWindow(anchor: number, geometry: Geometry, overscan = 8): RowWindow {
  const { total, rowHeight, viewport } = geometry;
  const first = Math.max(0, Math.floor(anchor) - overscan);
  const end = Math.min(total, Math.ceil(anchor + viewport / rowHeight) + overscan);
  return {
    first,
    end: Math.max(first, end),
    origin: scrollFor(anchor, geometry) - anchor * rowHeight,
  };
}

/** The anchor that brings `row` into view with the least movement. */
export function reveal(row: number, anchor: number, geometry: Geometry): number {
  const visible = geometry.viewport / geometry.rowHeight;
  if (row < anchor) return clampAnchor(row, geometry);
  if (row + 1 > anchor + visible) return clampAnchor(row + 1 - visible, geometry);
  return anchor;
}
