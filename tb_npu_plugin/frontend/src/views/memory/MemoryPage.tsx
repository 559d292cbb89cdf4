/** Memory: curves to scale in time, peaks, who held what at a moment, and the allocations. */
import type { MemoryReply } from '../../api/types.gen';
import { Failure } from '../../components/Failure';
import { Strip } from '../../components/Notice';
import { Skeleton } from '../../components/Skeleton';
import { LongText } from '../../components/Text';
import { DataTable } from '../../components/table/DataTable';
import { ViewStatus } from '../../components/ViewStatus';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { params } from '../../state/route';
import { useReply } from '../../state/useReply';
import { AtMoment } from './AtMoment';
import { Curves } from './Curves';
import { States } from './States';

const tableOf = (reply: MemoryReply) => reply.data.table;
/** The curves come once, with the page; the table's pages need not bring them again. */
const PAGING = { only: 'table' };

export function MemoryPage() {
  const { at, component, start, end } = params.value;
  const { reply, error, stale } = useReply<MemoryReply>('memory', {
    ...selectionQuery(),
    at,
    component,
    start,
    end,
    limit: 1,
  });
  if (!reply) return error ? <Failure error={error} /> : <Placeholder />;
  const { data, meta } = reply;
  const curves = data.components.length > 0;
  return (
    <div class={`memory-view${stale ? ' refreshing' : ''}`}>
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      <ViewStatus meta={meta} listed={!curves} />
      {data.note && (
        <p class="lead">
          <LongText text={data.note} />
        </p>
      )}
      {curves && (
        <>
          <Curves data={data} />
          <AtMoment data={data} />
        </>
      )}
      <DataTable<MemoryReply>
        view="memory"
        tableOf={tableOf}
        title={t.value.views.memory}
        query={{ at, component }}
        paging={PAGING}
        facets={<States states={data.states} />}
        stated
      />
    </div>
  );
}

function Placeholder() {
  return (
    <div class="memory-view">
      <section class="card">
        <Skeleton rows={8} />
      </section>
      <section class="card">
        <Skeleton rows={6} />
      </section>
    </div>
  );
}
