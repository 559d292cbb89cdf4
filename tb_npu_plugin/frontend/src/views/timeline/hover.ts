/** What is said of what lies under the pointer. */
import { endOf, lastAt, sliceId, startOf } from '../../api/timelineWindow';
import type { Box } from '../../charts/timeline/overlay';
import { valueText } from '../../charts/timeline/paintCounters';
import type { Hit } from '../../charts/timeline/place';
import { longTime } from '../../charts/timeline/ruler';
import type { HoverContent } from '../../components/HoverCard';
import { t } from '../../i18n';
import { exact, formatDuration } from '../../lib/format';
import { elide } from '../../lib/text';
import type { Board } from './useBoard';

/** The slice of a hit, of several the longest, and where it is drawn. */
export function clickedSlice({ item, track, depth }: Hit): { id: string; box: Box } | null {
  if (!item || !track) return null;
  const { data, index } = item;
  const box = {
    track: track.id,
    depth: Math.max(0, depth),
    start: startOf(data, index),
    end: endOf(data, index),
  };
  return { id: sliceId(data, track.id, index), box };
}

export function hoverOf(board: Board, hit: Hit, time: number): HoverContent | null {
  const words = t.value;
  const { track, item, counter } = hit;
  if (track && counter) {
    const known = track.counters.find((each) => each.key === counter.key);
    const series = counter.data.series.get(track.id)?.find((each) => each.key === counter.key);
    if (!known || !series) return null;
    const { data } = counter;
    const at = lastAt(data.at, series, (time - data.from) / data.tick);
    if (at < series.first) return null;
    const [least, most] = [data.least[at] as number, data.most[at] as number];
    const value =
      least === most
        ? valueText(most, known.unit)
        : `${valueText(least, '')}–${valueText(most, known.unit)}`;
    return { title: known.name, rows: [{ label: longTime(time), value }], note: track.label };
  }
  if (!track || !item) return null;
  const { data, index } = item;
  const name = data.names[data.name[index] as number] ?? '';
  const count = data.count[index] as number;
  const duration = data.duration[index] as number;
  const key = data.key?.[index];
  const rank =
    board.data.ranks.length > 1 ? board.data.ranks.find((each) => each.part === track.part) : null;
  const rows = [
    {
      label:
        count > 1 ? `${words.slice.duration} (${words.timeline.longest})` : words.slice.duration,
      value: formatDuration(duration),
      share: count > 1 ? '' : exact(Math.round(duration), 'ns'),
    },
  ];
  // Where the window cuts it, its beginning is not known here.
  if (data.start[index] !== 0) {
    rows.push({ label: words.slice.start, value: longTime(startOf(data, index)), share: '' });
  }
  if (data.legend && key !== undefined) {
    const value = data.legend[key] ?? words.timeline.unknown;
    const colour = board.data.colours.find((each) => each.id === board.colour);
    rows.push({ label: colour?.label ?? '', value, share: '' });
  }
  return {
    title: elide(name, 90),
    rows,
    note: [
      count > 1 ? words.timeline.mergedOf(count) : '',
      [rank?.label, track.process, track.label].filter(Boolean).join(' · '),
    ]
      .filter(Boolean)
      .join('. '),
  };
}
