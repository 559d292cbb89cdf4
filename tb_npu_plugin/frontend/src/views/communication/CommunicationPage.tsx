/** Communication: where its time went, over which links, and from which rank to which. */
import type { CommunicationReply } from '../../api/types.gen';
import { Failure } from '../../components/Failure';
import { Strip } from '../../components/Notice';
import { Segmented } from '../../components/Segmented';
import { Skeleton } from '../../components/Skeleton';
import { LongText } from '../../components/Text';
import { TextSetting } from '../../components/TextSetting';
import { DataTable } from '../../components/table/DataTable';
import { ViewStatus } from '../../components/ViewStatus';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { navigate, params } from '../../state/route';
import { useReply } from '../../state/useReply';
import { Links } from './Links';
import { Matrix } from './Matrix';
import { Times } from './Times';

const tableOf = (reply: CommunicationReply) => reply.data.table;

export function CommunicationPage() {
  const words = t.value.communication;
  const { group, key, peak } = params.value;
  const matrix = group === 'matrix';
  const { reply, error, stale } = useReply<CommunicationReply>('communication', {
    ...selectionQuery(),
    ...(matrix ? { group, key } : {}),
    peak,
    limit: 1,
  });
  if (!reply) {
    return (
      <>
        {peak && <Peaks known="" />}
        {error ? <Failure error={error} /> : <Placeholder />}
      </>
    );
  }
  const { data, meta } = reply;
  const some = data.ranks.length > 0 || data.table.groups.length > 0;
  const rankToRank = data.table.groups.includes('matrix');
  return (
    <div class={`communication-view${stale ? ' refreshing' : ''}`}>
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      <ViewStatus meta={meta} listed={!some} />
      {some && (
        <div class="page-head">
          <p class="lead">
            <LongText text={data.note} />
          </p>
          {group === 'link' && <Peaks known={data.peaks} />}
          {rankToRank && (
            <Segmented
              label={words.pages}
              value={matrix ? 'matrix' : ''}
              options={[
                { value: '', text: words.summary },
                { value: 'matrix', text: words.matrix },
              ]}
              onChoose={(next) =>
                navigate({ group: next, sort: null, columns: null, filter: null, offset: null })
              }
            />
          )}
        </div>
      )}
      {matrix
        ? data.matrix && <Matrix matrix={data.matrix} />
        : data.ranks.length > 0 && (
            <div class="halves">
              <Times data={data} />
              <Links data={data} />
            </div>
          )}
      <DataTable<CommunicationReply>
        view="communication"
        tableOf={tableOf}
        title={t.value.views.communication}
        paging={{ peak }}
        decimal
        stated
      />
    </div>
  );
}

function Peaks({ known }: { known: string }) {
  const words = t.value.communication;
  return (
    <TextSetting
      param="peak"
      label={words.peak}
      known={known}
      example="HCCS=28,RDMA=25"
      hint={words.peakHint}
    />
  );
}

function Placeholder() {
  return (
    <div class="communication-view">
      <div class="halves">
        <section class="card">
          <Skeleton rows={6} />
        </section>
        <section class="card">
          <Skeleton rows={6} />
        </section>
      </div>
    </div>
  );
}
