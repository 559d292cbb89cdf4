/** Step time: every row is its own bar, to one scale, with its figures beside it. */
import type { StepReply } from '../../api/types.gen';
import { AxisLine, Legend, Pieces } from '../../charts/Bars';
import { barRows, drawnParts } from '../../charts/parts';
import { named, stepTicks } from '../../charts/StepBars';
import { axisFor, layBar, zeroOf } from '../../charts/stepLayout';
import { hoverOn } from '../../components/HoverCard';
import { Segmented } from '../../components/Segmented';
import { DataTable } from '../../components/table/DataTable';
import type { ExtraColumn } from '../../components/table/Row';
import { t } from '../../i18n';
import { navigate, params } from '../../state/route';

const tableOf = (reply: StepReply) => reply.data.table;

export function StepTime() {
  const words = t.value.bars;
  const share = params.value.scale === 'share';
  return (
    <DataTable<StepReply>
      view="step"
      tableOf={tableOf}
      title={t.value.views.step}
      legend={(replies) => <Legend parts={named(drawnParts(barsOf(replies)))} />}
      extra={(replies) => barColumn(replies, share)}
      controls={
        <Segmented
          label={words.scale}
          value={share ? 'share' : 'time'}
          options={[
            { value: 'time', text: words.time },
            { value: 'share', text: words.share },
          ]}
          onChoose={(next) => navigate({ scale: next === 'share' ? next : null }, 'replace')}
        />
      }
    />
  );
}

const barsOf = (replies: readonly StepReply[]) => replies.flatMap((reply) => reply.data.bars);

/** One scale for all rows that were loaded, so that bars can be compared while scrolling. */
function barColumn(replies: readonly StepReply[], share: boolean): ExtraColumn<StepReply> {
  const bars = barsOf(replies);
  const axis = axisFor(bars, share);
  return {
    width: 300,
    stamp: JSON.stringify(axis),
    head: (
      <div class="bar-head">
        {t.value.bars.column}
        <AxisLine ticks={stepTicks(axis)} />
      </div>
    ),
    cell: ({ reply, index }) => {
      const bar = reply.data.bars[index];
      if (!bar) return null;
      const { segments, cut } = layBar(bar, axis);
      return (
        <span class="bar-track" {...hoverOn(() => ({ title: bar.label, rows: barRows(bar) }))}>
          <Pieces pieces={segments} cut={cut} zero={zeroOf(axis)} />
        </span>
      );
    },
  };
}
