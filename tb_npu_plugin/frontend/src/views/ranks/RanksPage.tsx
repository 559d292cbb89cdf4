/** Ranks: who holds the others up, every rank against the median, and the collectives they share. */
import type { RanksReply } from '../../api/types.gen';
import { Strip } from '../../components/Notice';
import { LongText } from '../../components/Text';
import { TextSetting } from '../../components/TextSetting';
import { DataTable } from '../../components/table/DataTable';
import { ViewStatus } from '../../components/ViewStatus';
import { Waiting } from '../../components/Waiting';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { params } from '../../state/route';
import { useReply } from '../../state/useReply';
import { Deviation } from './Deviation';
import { pictured } from './groups';
import { Suspects } from './Suspects';

const tableOf = (reply: RanksReply) => reply.data.table;

export function RanksPage() {
  const { group, sort, shape, measure } = params.value;
  // The rows of the picture stand in the order of the table, unless that shows something else.
  const { reply, error, stale } = useReply<RanksReply>('ranks', {
    ...selectionQuery(),
    group: pictured(group),
    ...(group && !pictured(group) ? {} : { sort }),
    shape,
    measure,
    limit: 1,
  });
  if (!reply) {
    return (
      <>
        {shape && <Shape known="" />}
        <Waiting error={error} />
      </>
    );
  }
  const { data, meta } = reply;
  const some = data.grid.measures.length > 0;
  return (
    <div class={`ranks-view${stale ? ' refreshing' : ''}`}>
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      <ViewStatus meta={meta} listed={!some} />
      {some && (
        <div class="lead lead-row">
          <LongText text={data.note} />
          {data.grid.total_ranks > 1 && <Shape known={data.shape} />}
        </div>
      )}
      {some && data.grid.ranks.length > 1 && (
        <Suspects
          suspects={data.suspects}
          verdict={data.verdict}
          read={meta.state !== 'ingesting'}
        />
      )}
      {data.grid.ranks.length > 1 && <Deviation grid={data.grid} />}
      <DataTable<RanksReply>
        view="ranks"
        tableOf={tableOf}
        title={t.value.views.ranks}
        paging={{ only: 'table', shape }}
        stated
      />
    </div>
  );
}

function Shape({ known }: { known: string }) {
  const words = t.value.ranks;
  return (
    <TextSetting
      param="shape"
      label={words.shape}
      known={known}
      example="tp=8,pp=2"
      hint={words.shapeHint}
    />
  );
}
