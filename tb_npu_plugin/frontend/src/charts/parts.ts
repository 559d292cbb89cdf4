/** What charts of step bars share: words, hover and where a bar leads. */
import type { StepBar } from '../api/types.gen';
import type { HoverRow } from '../components/HoverCard';
import { t } from '../i18n';
import { formatDuration, formatRatio } from '../lib/format';
import type { Patch } from '../state/route';
import { PARTS, type Part, partNs } from './stepLayout';

/** Only the parts that some bar has: a legend names what is drawn. */
export function drawnParts(bars: readonly StepBar[]): Part[] {
  const drawn = (part: Part) => bars.some((bar) => (partNs(bar, part) ?? 0) > 0);
  const always: readonly Part[] = ['computing', 'overlapped', 'communication', 'free'];
  const parts = PARTS.filter((part) => always.includes(part) || drawn(part));
  return drawn('unknown') ? [...parts, 'unknown'] : parts;
}

/** Not in the stage, so no share of it. */
const OUTSIDE: readonly Part[] = ['preparing', 'bubble'];

export function barRows(bar: StepBar): HoverRow[] {
  const words = t.value.bars;
  const share = (ns: number | null, part: Part) =>
    OUTSIDE.includes(part) || ns === null || !bar.stage_ns ? '' : formatRatio(ns / bar.stage_ns);
  const rows = drawnParts([bar]).map((part) => {
    const ns = partNs(bar, part);
    return { label: words[part], value: formatDuration(ns), share: share(ns, part), concept: part };
  });
  return [...rows, { label: words.stage, value: formatDuration(bar.stage_ns) }];
}

/** The steps of the rank that the bar stands for. */
export function barPatch(bar: StepBar): Patch {
  return {
    rank: bar.rank === null ? 'unknown' : String(bar.rank),
    ...(bar.device === null ? {} : { device: String(bar.device) }),
  };
}

/** The bar in words, for who cannot see it. */
export function barText(bar: StepBar): string {
  const rows = barRows(bar).map((row) =>
    [row.label, row.value, row.share].filter(Boolean).join(' '),
  );
  return `${bar.label}: ${rows.join(', ')}`;
}

/** A tick's value: "50 ms" rather than "50.0 ms". */
export function shortDuration(ns: number): string {
  return formatDuration(ns).replace(/\.0+(?=\u00a0)/, '');
}
