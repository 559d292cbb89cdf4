/** What is asked for: windows of the tracks on screen, and the whole for the line above them. */

import type { WindowData } from '../../api/timelineWindow';
import type { OverviewTrack } from './mapLine';
import type { Span } from './span';
import type { StageEvents, StageInput } from './stageInput';
import { Windows } from './windows';

export class Feed {
  private readonly windows: Windows;
  private readonly whole: Windows;

  constructor(
    events: Pick<StageEvents, 'ask' | 'onError'>,
    onArrive: (data: WindowData) => void,
    onWhole: () => void,
  ) {
    this.windows = new Windows(events.ask, onArrive, events.onError);
    this.whole = new Windows(events.ask, onWhole, () => {});
  }

  want(input: StageInput, span: Span, width: number, tracks: readonly number[]): void {
    const { whole, key, query, overview } = input;
    const common = { whole, width, key, query };
    if (tracks.length > 0) this.windows.want({ ...common, span, tracks: [...new Set(tracks)] });
    // The line of the whole waits: what is looked at comes first.
    if (overview.length > 0 && !this.windows.busy) {
      const asked = { ...common, query: input.overviewQuery, key: wholeKey(input) };
      this.whole.want({ ...asked, span: whole, tracks: overview.map((each) => each.id) });
    }
  }

  best(input: StageInput, track: number, span: Span, width: number): WindowData | null {
    return this.windows.best(track, span, width, input.key);
  }

  overview(input: StageInput, width: number): OverviewTrack[] {
    return input.overview.flatMap((track) => {
      const data = this.whole.best(track.id, input.whole, width, wholeKey(input));
      return data ? [{ track, data }] : [];
    });
  }

  stop(): void {
    this.windows.stop();
    this.whole.stop();
  }
}

/** The whole keeps its colours whatever is looked for. */
const wholeKey = (input: StageInput) => JSON.stringify([input.overviewQuery, input.version]);
