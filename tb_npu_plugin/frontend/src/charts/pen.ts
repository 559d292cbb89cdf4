/** A canvas made ready: sharp at any zoom, in the page's font and the theme's colours. */
export interface Pen {
  context: CanvasRenderingContext2D;
  /** The colour of a token: `colour('line')`. */
  colour: (token: string) => string;
  width: number;
  height: number;
}

export function penFor(canvas: HTMLCanvasElement, width: number, height: number): Pen | null {
  const context = canvas.getContext('2d');
  if (!context) return null;
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  context.font = `11px ${style.fontFamily}`;
  context.textBaseline = 'middle';
  const colour = (token: string) => style.getPropertyValue(`--${token}`).trim();
  return { context, colour, width, height };
}
