import { signal } from '@preact/signals';

/** Questions under way, for the line under the bar. */
export const waiting = signal(0);

/**
 * Asks one question at a time. Another question cancels the one under way, so a stale answer never
 * wins; the same question again waits for it, so a backend slower than our polling is not starved.
 */
export class Asker {
  private stop: AbortController | null = null;
  private key = '';
  private again: (() => void) | null = null;

  /** `run` must settle, and must not act once its signal is aborted. */
  ask(key: string, run: (signal: AbortSignal) => Promise<void>): void {
    if (this.stop && key === this.key) {
      this.again = () => this.ask(key, run);
      return;
    }
    this.cancel();
    const stop = new AbortController();
    this.stop = stop;
    this.key = key;
    waiting.value++;
    void run(stop.signal).then(() => {
      waiting.value--;
      if (this.stop !== stop) return;
      this.stop = null;
      const { again } = this;
      this.again = null;
      again?.();
    });
  }

  cancel(): void {
    this.stop?.abort();
    this.stop = null;
    this.again = null;
  }
}
