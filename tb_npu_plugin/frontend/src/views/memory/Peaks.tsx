/** The highest totals of each device; a figure leads to what was alive at its moment. */
import type { Memory, MemoryPeak } from '../../api/types.gen';
import { SimpleTable } from '../../components/table/SimpleTable';
import { type ShortColumn, shortTable } from '../../components/table/shortTable';
import { t } from '../../i18n';
import { formatTime } from '../../lib/format';
import { params, standing } from '../../state/route';
import { placeName, rankPatch } from './lanes';

/** A total and the moment it was reached. */
const MOMENTS = {
  reserved: 'reserved_at',
  allocated: 'allocated_at',
  active: 'active_at',
} as const;

export function Peaks({ data }: { data: Memory }) {
  const words = t.value.memory;
  const component = params.value.component ?? data.component;
  const peaks = data.peaks.filter((peak) => peak.component === component);
  if (peaks.length === 0) return null;
  return (
    <section class="card">
      <header class="card-head">
        <h2>
          {words.peaks} <span class="quiet">{component}</span>
        </h2>
      </header>
      <div class="short-scroll">
        <SimpleTable
          table={shortTable(peaks, columnsOf(data.peaks))}
          label={words.peaks}
          door={(row, key) => {
            const peak = peaks[row];
            if (!peak) return null;
            if (key === 'rank') {
              const patch = standing(rankPatch(peak.rank));
              return data.ranks_total > 1 ? { view: 'memory', patch } : null;
            }
            const moment = momentOf(peak, key);
            if (moment === null) return null;
            const patch = standing({ at: String(moment) });
            return { view: 'memory', patch, title: words.aliveThen(formatTime(moment)) };
          }}
        />
      </div>
    </section>
  );
}

function momentOf(peak: MemoryPeak, key: string): number | null {
  if (!(key in MOMENTS)) return null;
  return peak[`${MOMENTS[key as keyof typeof MOMENTS]}_ns`];
}

function columnsOf(all: readonly MemoryPeak[]): ShortColumn<MemoryPeak>[] {
  const words = t.value.memory;
  return [
    ['rank', t.value.bar.rank, 'text', (peak) => placeName(peak, all)],
    ['reserved', words.reserved, 'bytes', (peak) => peak.reserved_bytes],
    ['allocated', words.allocated, 'bytes', (peak) => peak.allocated_bytes],
    ['allocated_at', words.at, 'time', (peak) => peak.allocated_at_ns],
    ['active', words.active, 'bytes', (peak) => peak.active_bytes],
    ['begin', words.begin, 'bytes', (peak) => peak.start_bytes],
    ['end', words.end, 'bytes', (peak) => peak.end_bytes],
  ];
}
