/**
 * Text that came from a file is shown as text: nothing in it may reorder, hide or break the line
 * around it.
 */

// Bidirectional overrides and isolates, zero-width and other format characters, C0/C1 controls.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we look for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]/g;

const NAMES: Record<string, string> = { '\n': '⏎', '\r': '␍', '\t': '⇥', '\0': '␀' };

/** Control characters made visible: a right-to-left override reads `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return NAMES[char] ?? `⟨U+${code}⟩`;
  });
}

/** The same for a text of several lines, such as a call stack: line ends stay what they are. */
export function visibleLines(text: string): string {
  return text
    .split(/\r\n|\n/)
    .map(visible)
    .join('\n');
}

/** At most `limit` characters, cut in the middle: both ends of a kernel's name tell it apart. */
export function elide(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const tail = Math.floor((limit - 1) / 3);
  const head = limit - 1 - tail;
  return `${trimPair(text.slice(0, head))}…${text.slice(text.length - tail).replace(/^[\udc00-\udfff]/, '')}`;
}

/** Does not leave half of a surrogate pair behind. */
function trimPair(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '');
}

/** Width in columns of a fixed font: Chinese, Japanese and Korean characters take two. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const char of text) columns += (char.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
  return columns;
}
