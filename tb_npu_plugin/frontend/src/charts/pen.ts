/** A canvas made ready: sharp at any zoom, in the page's font and the theme's colours. */
export interface Pen {
  context: CanvasRenderingContext2D;
  /** The colour of a token: `colour('line')`. */
  colour: (token: string) => string;
  width: number;
  height: number;
}

/**
 * Draws on a canvas of `width` by `height`. Not on itself but on another that is then copied: where there is
 * no graphics card, Chromium keeps what was drawn as a list and goes through it with every frame in
 * which something above the canvas moves (15,000 cells: 165 ms).
 */
export function paint(
  canvas: HTMLCanvasElement,
  width: number,
  height: number,
  draw: (pen: Pen) => void,
): void {
  const ratio = window.devicePixelRatio || 1;
  const ground = document.createElement('canvas');
  ground.width = Math.round(width * ratio);
  ground.height = Math.round(height * ratio);
  canvas.width = ground.width;
  canvas.height = ground.height;
  const context = ground.getContext('2d');
  const shown = canvas.getContext('2d');
  if (!context || !shown || ground.width === 0 || ground.height === 0) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  context.font = `11px ${style.fontFamily}`;
  context.textBaseline = 'middle';
  const colour = (token: string) => style.getPropertyValue(`--${token}`).trim();
  draw({ context, colour, width, height });
  shown.drawImage(ground, 0, 0);
}
