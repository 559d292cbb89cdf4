/** Where one has looked, for the way back. */
import { type Span, sameSpan } from './span';

const MOST = 100;
/** Movements that follow each other faster are one. */
const PAUSE_MS = 600;

export class Past {
  private readonly spans: Span[] = [];
  private last = Number.NEGATIVE_INFINITY;

  /** Before a movement begins. */
  keep(span: Span, now: number): void {
    const newest = this.spans[this.spans.length - 1];
    if (now - this.last > PAUSE_MS && !(newest && sameSpan(newest, span))) {
      this.spans.push(span);
      if (this.spans.length > MOST) this.spans.shift();
    }
    this.last = now;
  }

  /** The newest that is not `here`. */
  back(here: Span): Span | undefined {
    let span = this.spans.pop();
    while (span && sameSpan(span, here)) span = this.spans.pop();
    return span;
  }
}
