/** Selections of whole numbers as people write them: `0,2,5-7`. */

export interface Ranges {
  values: number[];
  /** Where the text stops making sense, from 0; null when all of it does. */
  error: number | null;
}

/** Spaces, full-width commas and dashes are taken as what they mean. */
export function parseRanges(text: string, limit = 100_000): Ranges {
  const values = new Set<number>();
  let at = 0;
  for (const part of text.split(/[,\uff0c\u3001]/)) {
    const match = /^\s*(\d+)\s*(?:[-–—~\uff5e]\s*(\d+)\s*)?$/.exec(part);
    if (!match && part.trim() !== '') return { values: sorted(values), error: at };
    if (match) {
      const from = Number(match[1]);
      const to = match[2] === undefined ? from : Number(match[2]);
      if (to < from || to - from >= limit) return { values: sorted(values), error: at };
      for (let value = from; value <= to; value++) values.add(value);
    }
    at += part.length + 1;
  }
  return { values: sorted(values), error: null };
}

function sorted(values: Iterable<number>): number[] {
  return [...values].sort((a, b) => a - b);
}

/** [0, 2, 5, 6, 7] -> "0,2,5-7" */
export function formatRanges(values: readonly number[], comma = ',', dash = '-'): string {
  const out: string[] = [];
  const list = sorted(new Set(values));
  for (let i = 0; i < list.length; ) {
    let end = i;
    while (list[end + 1] === (list[end] as number) + 1) end++;
    if (end === i) out.push(String(list[i]));
    else if (end === i + 1) out.push(String(list[i]), String(list[end]));
    else out.push(`${list[i]}${dash}${list[end]}`);
    i = end + 1;
  }
  return out.join(comma);
}
