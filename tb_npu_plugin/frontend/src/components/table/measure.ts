/** How wide a text is in the page's font, so that a column is as wide as what it shows. */
import { columnsOf } from '../../lib/text';

/** Where there is no canvas: what a character of a wide 13 px system font takes. */
const ADVANCE = 8;

let context: CanvasRenderingContext2D | null | undefined;

function canvas(): CanvasRenderingContext2D | null {
  if (context === undefined) {
    context = document.createElement('canvas').getContext?.('2d') ?? null;
    if (context) context.font = `13px ${getComputedStyle(document.body).fontFamily}`;
  }
  return context;
}

export function textWidth(text: string): number {
  const drawn = canvas();
  return Math.ceil(drawn ? drawn.measureText(text).width : columnsOf(text) * ADVANCE);
}

/** Texts with as many characters may differ by some pixels: so many of the longest are measured. */
const MEASURED = 40;

/** The longest of many; characters are counted first, because measuring is slow. */
export function longestWidth(texts: Iterable<string>): number {
  const columns = new Map<string, number>();
  for (const text of texts) {
    const short = text.length > 100 ? text.slice(0, 100) : text;
    if (!columns.has(short)) columns.set(short, columnsOf(short));
  }
  const longest = [...columns].sort((a, b) => b[1] - a[1]).slice(0, MEASURED);
  return Math.max(0, ...longest.map(([text]) => textWidth(text)));
}
