/**
 * Windows of data that were fetched, and which of them is drawn where. Asked for wider than the
 * screen, so that a small movement needs nothing new; until the new one comes the old is drawn at
 * its new place.
 */
import { decodeWindow, type WindowData } from '../../api/timelineWindow';
import { formatRanges } from '../../lib/ranges';
import { lengthOf, type Span } from './span';

export interface Wanted {
  span: Span;
  whole: Span;
  /** Pixels that the span takes. */
  width: number;
  tracks: readonly number[];
  /** All else that the answer depends on: colour, search, shifts, version. */
  key: string;
  query: Readonly<Record<string, string>>;
}

export interface WindowQuery {
  tracks: string;
  from: number;
  to: number;
  width: number;
}

export type AskWindow = (
  query: WindowQuery & Readonly<Record<string, string | number>>,
  signal: AbortSignal,
) => Promise<ArrayBuffer>;

interface Held {
  key: string;
  tracks: ReadonlySet<number>;
  data: WindowData;
  /** ns per pixel that it was made for. */
  scale: number;
  /** No slice in it is merged: it is good at any zoom that its ticks are finer than. */
  single: boolean;
}

interface UnderWay {
  key: string;
  tracks: ReadonlySet<number>;
  span: Span;
  scale: number;
  stop: AbortController;
}

const KEPT = 24;
const ITEMS_KEPT = 2_000_000;
/** A window of a coarser scale is good up to this, a finer one down to that. */
const COARSER = 1.25;
const FINER = 0.2;
const AT_ONCE = 2;
const WIDEST = 8_192;

export class Windows {
  private held: Held[] = [];
  private underWay: UnderWay[] = [];

  constructor(
    private readonly ask: AskWindow,
    private readonly onArrive: (data: WindowData) => void,
    private readonly onError: (error: Error) => void,
  ) {}

  get busy(): boolean {
    return this.underWay.length > 0;
  }

  /** Asks for what is not there yet. */
  want(wanted: Wanted): void {
    const scale = lengthOf(wanted.span) / Math.max(1, wanted.width);
    const there = (track: number) =>
      this.held.some((each) => covers(each, each.data, track, wanted, scale)) ||
      this.underWay.some((each) => covers(each, each.span, track, wanted, scale));
    const missing = wanted.tracks.filter((track) => !there(track));
    if (missing.length === 0) return;
    for (const each of [...this.underWay]) {
      const useful = wanted.tracks.some((track) => covers(each, each.span, track, wanted, scale));
      if (!useful || this.underWay.length >= AT_ONCE) this.cancel(each);
    }
    void this.fetch(wanted, missing, scale);
  }

  /** The best there is for a track. */
  best(track: number, span: Span, width: number, key: string): WindowData | null {
    const scale = lengthOf(span) / Math.max(1, width);
    let best: Held | null = null;
    let most = Number.NEGATIVE_INFINITY;
    for (const each of this.held) {
      if (!each.tracks.has(track)) continue;
      const score = scoreOf(each, span, scale) + (each.key === key ? 100 : 0);
      if (score > most) {
        most = score;
        best = each;
      }
    }
    return best?.data ?? null;
  }

  stop(): void {
    for (const each of [...this.underWay]) this.cancel(each);
  }

  private cancel(each: UnderWay): void {
    each.stop.abort();
    this.underWay = this.underWay.filter((other) => other !== each);
  }

  private async fetch(wanted: Wanted, tracks: readonly number[], scale: number): Promise<void> {
    const [from, to] = wider(wanted.span, wanted.whole);
    const stop = new AbortController();
    const width = Math.min(WIDEST, Math.max(1, Math.round((to - from) / scale)));
    const own: UnderWay = {
      key: wanted.key,
      tracks: new Set(tracks),
      span: [from, to],
      scale,
      stop,
    };
    this.underWay.push(own);
    try {
      const asked = { ...wanted.query, tracks: formatRanges(tracks), from, to, width };
      const data = decodeWindow(await this.ask(asked, stop.signal));
      if (stop.signal.aborted) return;
      this.keep({ key: own.key, tracks: own.tracks, data, scale, single: isSingle(data) });
      this.underWay = this.underWay.filter((other) => other !== own);
      this.onArrive(data);
    } catch (error) {
      if (stop.signal.aborted) return;
      this.underWay = this.underWay.filter((other) => other !== own);
      this.onError(error as Error);
    }
  }

  private keep(next: Held): void {
    this.held = [next, ...this.held].slice(0, KEPT);
    let items = 0;
    this.held = this.held.filter((each, at) => {
      items += each.data.items;
      return at === 0 || items <= ITEMS_KEPT;
    });
  }
}

/** Half a screen more on either side, as far as there is anything. */
export function wider([from, to]: Span, whole: Span): Span {
  const half = (to - from) / 2;
  const start = Math.max(Math.floor(from - half), Math.floor(whole[0]));
  const end = Math.min(Math.ceil(to + half), Math.ceil(whole[1]));
  return end > start ? [start, end] : [Math.floor(from), Math.ceil(to)];
}

function covers(
  own: Pick<Held, 'key' | 'tracks' | 'scale'> & Partial<Held>,
  reach: Pick<WindowData, 'from' | 'to'> | Span,
  track: number,
  { span, whole, key }: Wanted,
  scale: number,
): boolean {
  if (own.key !== key || !own.tracks.has(track)) return false;
  const [from, to] = 'from' in reach ? [reach.from, reach.to] : reach;
  if (from > Math.max(span[0], whole[0]) + 1 || to < Math.min(span[1], whole[1]) - 1) return false;
  const ratio = own.scale / scale;
  const exact = own.single === true && (own.data?.tick ?? 0) <= scale / 2;
  return ratio >= FINER && (ratio <= COARSER || exact);
}

/** How much of the span it covers, then how near its scale is. */
function scoreOf({ data, scale: made, single }: Held, [from, to]: Span, scale: number): number {
  const covered = Math.max(0, Math.min(to, data.to) - Math.max(from, data.from)) / (to - from);
  const ratio = made / scale;
  const blur = ratio > 1 && !single ? Math.log2(ratio) * 0.12 : 0;
  const excess = ratio < 1 ? Math.log2(1 / ratio) * 0.02 : 0;
  return covered - Math.min(0.9, blur) - Math.min(0.3, excess);
}

function isSingle({ count }: WindowData): boolean {
  for (let i = 0; i < count.length; i++) if ((count[i] as number) > 1) return false;
  return true;
}
