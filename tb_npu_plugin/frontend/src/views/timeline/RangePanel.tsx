/** A selected range: what ran in it, and how busy each track was. */
import { useState } from 'preact/hooks';
import type { Occupancy, SlicesReply } from '../../api/types.gen';
import { longTime } from '../../charts/timeline/ruler';
import { around, type Span } from '../../charts/timeline/span';
import { Door } from '../../components/Door';
import { DataTable } from '../../components/table/DataTable';
import { t } from '../../i18n';
import { formatDuration, formatRatio } from '../../lib/format';
import { visible } from '../../lib/text';
import { PanelHead } from './Panel';
import type { Board } from './useBoard';

const SHOWN = 60;

export function RangePanel({ board, range }: { board: Board; range: Span }) {
  const words = t.value.range;
  const [occupancy, setOccupancy] = useState<readonly Occupancy[]>([]);
  const tableOf = useTableOf(setOccupancy);
  const [from, to] = range;
  return (
    <>
      <PanelHead
        title={
          <>
            {words.title} <b>{formatDuration(to - from)}</b>
          </>
        }
        onClose={() => board.setRange(null)}
      >
        <span class="quiet">
          {longTime(from)} – {longTime(to)}
        </span>
        <button
          type="button"
          class="link"
          onClick={() => board.stage.current?.show(around(range, board.whole))}
        >
          {words.fit}
        </button>
        <Door
          view="flame"
          class="link"
          patch={{ from: String(Math.round(from)), to: String(Math.round(to)) }}
        >
          {t.value.views.flame}
        </Door>
      </PanelHead>
      <div class="tl-range">
        <div class="tl-range-table">
          <DataTable<SlicesReply>
            view="slices"
            tableOf={tableOf}
            title={words.slices}
            query={{ from: Math.round(from), to: Math.round(to), tracks: board.tracks }}
            stated
          />
        </div>
        {occupancy.length > 0 && (
          <div class="tl-occupancy">
            <h3 title={words.occupancyHint}>{words.occupancy}</h3>
            <ul>
              {[...occupancy]
                .sort((a, b) => b.share - a.share)
                .slice(0, SHOWN)
                .map((each) => (
                  <li
                    key={each.track}
                    title={`${visible(each.label)}: ${formatDuration(each.busy)}`}
                  >
                    <bdi>{visible(each.label)}</bdi>
                    <span class="figure">{formatRatio(each.share)}</span>
                    <span class="meter" aria-hidden="true">
                      <span
                        class="c-computing"
                        style={`width:${(Math.min(1, each.share) * 100).toFixed(1)}%`}
                      />
                    </span>
                  </li>
                ))}
            </ul>
          </div>
        )}
      </div>
    </>
  );
}

/** The occupancy comes with the table's pages. */
function useTableOf(onOccupancy: (occupancy: readonly Occupancy[]) => void) {
  const [read] = useState(() => {
    let last: SlicesReply | null = null;
    return (reply: SlicesReply) => {
      if (reply !== last && reply.data.occupancy) {
        last = reply;
        queueMicrotask(() => onOccupancy(reply.data.occupancy));
      }
      return reply.data.table;
    };
  });
  return read;
}
