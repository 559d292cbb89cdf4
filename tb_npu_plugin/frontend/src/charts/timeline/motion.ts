/** Where the span is going: held keys, and ways to a goal. Pure but for the clock it is handed. */
import { between, lengthOf, moved, type Span, sameSpan, zoomed } from './span';

export type Drive = 'in' | 'out' | 'left' | 'right';

/** Per second: how much closer, and how much of a screen. */
const ZOOM = 2.6;
const PAN = 1.1;
/** A tap moves as long as this. */
const TAP_MS = 130;
const WAY_MS = 170;

interface Way {
  from: Span;
  to: Span;
  since: number;
}

export class Motion {
  private until = new Map<Drive, number>();
  private way: Way | null = null;
  private last = 0;

  /** `still`: the reader asked for less movement. */
  constructor(private readonly still: () => boolean) {}

  press(drive: Drive, now: number): void {
    if (this.until.get(drive) === Number.POSITIVE_INFINITY) return;
    if (this.until.size === 0) this.last = now;
    this.way = null;
    this.least.set(drive, now + TAP_MS);
    this.until.set(drive, Number.POSITIVE_INFINITY);
  }

  private least = new Map<Drive, number>();

  release(drive: Drive, now: number): void {
    if (this.until.has(drive)) this.until.set(drive, Math.max(now, this.least.get(drive) ?? now));
  }

  releaseAll(): void {
    this.until.clear();
  }

  go(from: Span, to: Span, now: number): void {
    this.until.clear();
    this.way = { from, to, since: this.still() ? Number.NEGATIVE_INFINITY : now };
  }

  stop(): void {
    this.way = null;
    this.until.clear();
  }

  get moving(): boolean {
    return this.way !== null || this.until.size > 0;
  }

  /** Where it ends, as far as that is known. */
  goal(span: Span): Span {
    return this.way?.to ?? span;
  }

  /** The span at `now`; `centre` is what zooming keeps in place. */
  step(span: Span, whole: Span, centre: number, now: number): Span {
    if (this.way) {
      const share = Math.min(1, (now - this.way.since) / WAY_MS);
      const eased = 1 - (1 - share) ** 3;
      const next = between(this.way.from, this.way.to, eased);
      if (share >= 1 || sameSpan(next, this.way.to)) this.way = null;
      return next;
    }
    const seconds = Math.min(0.1, Math.max(0, now - this.last) / 1_000);
    this.last = now;
    let next = span;
    for (const [drive, until] of [...this.until]) {
      if (drive === 'in') next = zoomed(next, centre, Math.exp(-ZOOM * seconds), whole);
      if (drive === 'out') next = zoomed(next, centre, Math.exp(ZOOM * seconds), whole);
      if (drive === 'left') next = moved(next, -PAN * seconds * lengthOf(next), whole);
      if (drive === 'right') next = moved(next, PAN * seconds * lengthOf(next), whole);
      if (now >= until) this.until.delete(drive);
    }
    return next;
  }
}
