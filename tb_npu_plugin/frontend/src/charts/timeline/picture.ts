/** The rows, painted wider and taller than the screen: a frame of panning is one copy of it. */
import type { Area } from './ink';
import { paintRows, type Scene } from './paint';
import { lengthOf, type Span } from './span';

export interface View {
  span: Span;
  width: number;
  /** Of the rows, without what stands above them. */
  height: number;
  scroll: number;
}

/** It reaches this far beyond the screen: share of the width, and pixels. */
const ASIDE = 0.5;
export const ABOVE = 240;
/** While zooming, a picture that takes longer is stretched instead, for so long. */
const SLOW_MS = 9;
const STRETCHED_MS = 70;

export class Picture {
  private readonly canvas = document.createElement('canvas');
  private area: Area | null = null;
  private revision = -1;
  private cost = 0;
  private at = 0;

  /** Paints what is missing. `revision` changes with whatever is drawn. */
  prepare(view: View, scene: () => Scene, revision: number, zooming: boolean, now: number): void {
    if (this.fits(view, revision)) return;
    const recent = this.cost > SLOW_MS && now - this.at < STRETCHED_MS;
    if (zooming && recent && this.area !== null && this.revision === revision) return;
    // In the next frame it is another: nothing beyond the screen is worth painting.
    this.paint(view, scene(), zooming ? 0 : ASIDE, zooming ? 0 : ABOVE);
    this.revision = revision;
    this.at = now;
  }

  /** The rows begin at the origin. */
  copy(ink: CanvasRenderingContext2D, view: View): void {
    const { area } = this;
    if (!area) return;
    const scale = view.width / lengthOf(view.span);
    const x = (area.span[0] - view.span[0]) * scale;
    // Whole pixels of the device: a copy between them is blurred.
    const left = Math.round(x * area.ratio) / area.ratio;
    const width = lengthOf(area.span) * scale;
    ink.drawImage(this.canvas, left, area.top - view.scroll, width, area.height);
  }

  private fits(view: View, revision: number): boolean {
    const { area } = this;
    if (!area || this.revision !== revision || area.ratio !== ratioNow()) return false;
    const scales = [area.width / lengthOf(area.span), view.width / lengthOf(view.span)] as const;
    return (
      Math.abs(scales[0] / scales[1] - 1) < 1e-9 &&
      area.span[0] <= view.span[0] &&
      area.span[1] >= view.span[1] &&
      area.top <= view.scroll &&
      area.top + area.height >= view.scroll + view.height
    );
  }

  private paint(view: View, scene: Scene, aside: number, above: number): void {
    const ratio = ratioNow();
    const length = lengthOf(view.span);
    const top = Math.max(0, view.scroll - above);
    const area: Area = {
      span: [view.span[0] - length * aside, view.span[1] + length * aside],
      width: view.width * (1 + 2 * aside),
      top,
      height: view.scroll + view.height + above - top,
      ratio,
    };
    sized(this.canvas, area.width, area.height, ratio);
    const ink = this.canvas.getContext('2d', { alpha: false });
    if (!ink) return;
    const begun = performance.now();
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintRows(ink, scene, area);
    this.area = area;
    this.cost = performance.now() - begun;
  }
}

export const ratioNow = () => window.devicePixelRatio || 1;

/** Setting a size clears a canvas and takes memory: only where it is another. */
export function sized(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
): void {
  const wide = Math.round(width * ratio);
  const tall = Math.round(height * ratio);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== tall) canvas.height = tall;
}
