/** The reply's series as lanes: one per device, with the totals that are shown. */
import type { Memory, MemoryAlive, MemoryPeak, MemorySeries } from '../../api/types.gen';
import type { Lane } from '../../charts/lanes';
import { formatBytes } from '../../lib/format';
import type { Patch } from '../../state/route';

export const MEASURES = ['reserved', 'active', 'allocated'] as const;
export type Measure = MemorySeries['measure'];

type Place = Pick<MemorySeries, 'capture' | 'device'>;

const keyOf = ({ capture, device }: Place) => `${capture}/${device}`;

/** The device is named where a capture has several. */
export function placeName(place: Place, all: readonly Place[]): string {
  const several = all.some(
    (other) => other.capture === place.capture && other.device !== place.device,
  );
  return several ? `${place.capture} · ${place.device}` : place.capture;
}

export function rankPatch(rank: number | null): Patch {
  return { rank: rank === null ? 'unknown' : String(rank) };
}

/** Of the totals that are there, those of the `show` parameter; none of them is all. */
export function measuresOf(
  show: string | undefined,
  there: Iterable<Measure> = MEASURES,
): Set<Measure> {
  const chosen = [...there].filter((measure) => show?.split(',').includes(measure));
  return new Set(chosen.length > 0 ? chosen : there);
}

export function lanesOf(
  data: Pick<Memory, 'series' | 'peaks' | 'alive'>,
  component: string,
  measures: ReadonlySet<Measure>,
): Lane[] {
  const own = data.series.filter((series) => series.component === component);
  const several = new Set(own.map(keyOf)).size > 1;
  const lanes = new Map<string, Lane & { curves: Lane['curves'][number][] }>();
  for (const series of own) {
    const key = keyOf(series);
    const lane = lanes.get(key) ?? {
      key,
      label: placeName(series, data.series),
      figure: peakText(data.peaks.find(at(key, component))),
      patch: several ? rankPatch(series.rank) : null,
      curves: [],
      dot: dotOf(data.alive.find(at(key, component))),
    };
    lanes.set(key, lane);
    if (measures.has(series.measure)) {
      lane.curves.push({ measure: series.measure, times: series.times_ns, values: series.values });
    }
  }
  return [...lanes.values()];
}

function at(key: string, component: string) {
  return (one: Place & { component: string }) => one.component === component && keyOf(one) === key;
}

function peakText(peak: MemoryPeak | undefined): string {
  return formatBytes(peak?.allocated_bytes ?? peak?.reserved_bytes);
}

function dotOf(alive: MemoryAlive | undefined): Lane['dot'] {
  if (!alive || alive.total_bytes === null) return null;
  return { time: alive.at_ns, value: alive.total_bytes, text: formatBytes(alive.total_bytes) };
}

/** From the first to the last record of all components, so that switching keeps the axis. */
export function wholeSpan(series: readonly MemorySeries[]): [number, number] {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { times_ns: times } of series) {
    from = Math.min(from, times[0] ?? from);
    to = Math.max(to, times[times.length - 1] ?? to);
  }
  return to > from ? [from, to] : [Math.min(from, 0) || 0, Math.max(to, 1) || 1];
}

/** The highest value drawn, with a little air. */
export function topOf(lanes: readonly Lane[]): number {
  let top = 0;
  for (const lane of lanes) {
    for (const curve of lane.curves) for (const value of curve.values) top = Math.max(top, value);
  }
  return top * 1.04;
}
