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

/** The longest of many, measured once: characters are counted first. */
export function longestWidth(texts: Iterable<string>): number {
  let longest = '';
  let most = 0;
  for (const text of texts) {
    const short = text.length > 100 ? text.slice(0, 100) : text;
    const columns = columnsOf(short);
    if (columns > most) {
      most = columns;
      longest = short;
    }
  }
  return textWidth(longest);
}
