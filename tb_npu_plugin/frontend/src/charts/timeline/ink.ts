/** What is painted with, and where. */
import type { Span } from './span';

export type Ink = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export interface Area {
  span: Span;
  width: number;
  /** Of the rows, at the upper edge. */
  top: number;
  height: number;
  ratio: number;
}
