/** A bar per rank: how much of its communication moved data, and how much waited or idled. */
import { useMemo } from 'preact/hooks';
import type { Communication, CommunicationRank } from '../../api/types.gen';
import { Bars, type DrawnBar, Figures, Legend } from '../../charts/Bars';
import { shortDuration } from '../../charts/parts';
import type { HoverRow } from '../../components/HoverCard';
import { t } from '../../i18n';
import {
  columnScale,
  formatDuration,
  formatInt,
  formatRatio,
  formatScaled,
  TIME_UNITS,
} from '../../lib/format';
import { roundStep } from '../../lib/ticks';
import { drawnNs, lengthNs, PARTS, piecesOf } from './times';

const TABLE_UP_TO = 128;

export function Times({ data }: { data: Communication }) {
  const words = t.value.communication;
  const { ranks } = data;
  const longest = useMemo(() => Math.max(1, ...ranks.map(lengthNs)), [ranks]);
  const bars = useMemo(() => drawnBars(ranks, longest), [ranks, longest, words]);
  const scale = useMemo(() => ({ ticks: ticks(longest), zero: 0 }), [longest]);
  const incomplete = ranks.reduce((sum, rank) => sum + rank.incomplete, 0);
  const parts = PARTS.filter(
    (part) => part !== 'rest' || ranks.some((rank) => drawnNs(rank, part) > 0),
  );
  const notes = [
    ranks.length < data.total_ranks ? words.shownOf(ranks.length, data.total_ranks) : '',
    incomplete > 0 ? words.incomplete(incomplete) : '',
  ].filter(Boolean);
  return (
    <section class="card times-card">
      <header class="card-head">
        <h2>{words.times}</h2>
      </header>
      <Bars bars={bars} scale={scale} label={words.chart(ranks.length)} open={words.open} />
      <Legend
        parts={parts.map((part) => ({
          part,
          text: part === 'wait' ? words.otherWait : words[part],
        }))}
      />
      {notes.length > 0 && <p class="quiet">{notes.join(' ')}</p>}
      {ranks.length <= TABLE_UP_TO && (
        <Figures
          caption={words.chart(ranks.length)}
          head={[
            t.value.bar.rank,
            words.transit,
            words.wait,
            words.synchronization,
            words.idle,
            words.elapse,
          ]}
          rows={ranks.map((rank) => [
            rank.label,
            ...[rank.transit_ns, rank.wait_ns, rank.synchronization_ns, rank.idle_ns].map(
              formatDuration,
            ),
            formatDuration(rank.elapse_ns),
          ])}
        />
      )}
    </section>
  );
}

function ticks(longest: number) {
  return (wanted: number) => {
    const step = roundStep(longest, wanted);
    const count = Math.floor(longest / step) + 1;
    return Array.from({ length: count }, (_, i) => ({
      at: (i * step) / longest,
      text: shortDuration(i * step),
    }));
  };
}

function drawnBars(ranks: readonly CommunicationRank[], longest: number): DrawnBar[] {
  const scale = columnScale(
    ranks.map((rank) => rank.elapse_ns),
    TIME_UNITS,
  );
  return ranks.map((rank) => {
    const rows = rowsOf(rank);
    return {
      label: rank.label,
      short: rank.rank === null ? '?' : String(rank.rank),
      figure:
        scale && rank.elapse_ns !== null
          ? `${formatScaled(rank.elapse_ns, scale)} ${scale.unit.name}`
          : formatDuration(rank.elapse_ns),
      pieces: piecesOf(rank, longest),
      hover: { title: rank.label, rows },
      text: rows
        .map((row) => [row.label, row.value, row.share].filter(Boolean).join(' '))
        .join(', '),
      view: 'communication',
      patch: { rank: rank.rank === null ? 'unknown' : String(rank.rank) },
    };
  });
}

function rowsOf(rank: CommunicationRank): HoverRow[] {
  const words = t.value.communication;
  const share = (ratio: number | null) => (ratio === null ? '' : formatRatio(ratio));
  return [
    {
      label: words.transit,
      value: formatDuration(rank.transit_ns),
      share: share(rank.transit_of_elapse_ratio),
      concept: 'transit',
    },
    {
      label: words.wait,
      value: formatDuration(rank.wait_ns),
      share: share(rank.wait_of_elapse_ratio),
      concept: 'wait',
    },
    {
      label: words.synchronization,
      value: formatDuration(rank.synchronization_ns),
      share: '',
      concept: 'synchronization',
    },
    {
      label: words.idle,
      value: formatDuration(rank.idle_ns),
      share: share(rank.idle_of_elapse_ratio),
      concept: 'idle',
    },
    ...(rank.rest_ns
      ? [{ label: words.rest, value: formatDuration(rank.rest_ns), concept: 'rest' }]
      : []),
    { label: words.elapse, value: formatDuration(rank.elapse_ns) },
    { label: words.operations, value: formatInt(rank.operations) },
  ];
}
