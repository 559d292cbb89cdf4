/** Rows that scroll together: the pinned ones above, which stay, and all others below. */
import { HEAD } from './head';
import {
  type Box,
  drawArrows,
  drawBox,
  drawLine,
  drawRange,
  drawSticky,
  type Screen,
} from './overlay';
import type { Scene } from './paint';
import type { TrackRow, Tree } from './rows';
import type { StageInput } from './stageInput';

export interface Pane {
  pinned: boolean;
  rows: readonly TrackRow[];
  /** On the canvas. */
  top: number;
  height: number;
  scroll: number;
}

/** Pinned rows leave room for others. */
const PINNED_SHARE = 0.5;

export function panesOf(tree: Tree, height: number, scroll: number): [pins: Pane, rest: Pane] {
  const room = Math.max(0, height - HEAD);
  const pins = Math.min(tree.pinsHeight, Math.floor(room * PINNED_SHARE));
  return [
    { pinned: true, rows: tree.pins, top: HEAD, height: pins, scroll: 0 },
    { pinned: false, rows: tree.rows, top: HEAD + pins, height: room - pins, scroll },
  ];
}

/** What lies over a pane's rows; the origin is its upper left corner. */
export function drawOver(
  ink: CanvasRenderingContext2D,
  scene: Scene,
  screen: Screen,
  pane: Pane,
  input: StageInput,
  hover: Box | null,
  pointer: number | null,
): void {
  const { rows } = pane;
  const { token } = scene;
  ink.font = scene.font;
  ink.textBaseline = 'middle';
  ink.textAlign = 'left';
  drawSticky(ink, scene, screen);
  for (const step of input.steps) drawLine(ink, screen, step.start, token('line'), [2, 3]);
  if (input.range) drawRange(ink, scene, screen, input.range);
  for (const marker of input.markers) drawLine(ink, screen, marker.time, token('warning'), []);
  if (!pane.pinned) drawArrows(ink, scene, screen, rows, input.arrows);
  if (hover) drawBox(ink, scene, screen, rows, hover, false);
  if (input.selected) drawBox(ink, scene, screen, rows, input.selected, true);
  if (pointer !== null) drawLine(ink, screen, pointer, token('ink3'), [1, 3]);
  if (!pane.pinned || pane.height === 0) return;
  ink.fillStyle = token('ink3');
  ink.fillRect(0, pane.height - 1, screen.width, 1);
}
