/** The first screen: where the step went, in a sentence, in figures and in bars, and what to do. */
import type { OverviewReply } from '../../api/types.gen';
import { StepBars } from '../../charts/StepBars';
import { Door } from '../../components/Door';
import { Facts } from '../../components/Facts';
import { Failure } from '../../components/Failure';
import { Strip } from '../../components/Notice';
import { Skeleton } from '../../components/Skeleton';
import { termFor } from '../../components/table/filter';
import { SimpleTable } from '../../components/table/SimpleTable';
import { ViewStatus } from '../../components/ViewStatus';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { useReply } from '../../state/useReply';
import { Cards } from './Cards';
import { First } from './First';
import { Lines } from './Lines';

type Data = OverviewReply['data'];

export function Overview() {
  const { reply, error, stale } = useReply<OverviewReply>('overview', selectionQuery());
  if (!reply) return error ? <Failure error={error} /> : <Placeholder />;
  const { data, meta } = reply;
  return (
    <div class={`overview${stale ? ' refreshing' : ''}`}>
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      <ViewStatus meta={meta} listed />
      {data.headline && <h1 class="headline">{data.headline}</h1>}
      <Cards cards={data.cards} />
      <div class="overview-columns">
        <div class="overview-column">
          <Bars data={data} />
          <Lines lines={data.lines} />
          <TopKernels table={data.top_kernels} />
        </div>
        <div class="overview-column">
          <First findings={data.findings} meta={meta} />
          {data.facts.length > 0 && (
            <section class="card facts-card">
              <h2>{t.value.overview.facts}</h2>
              <Facts facts={data.facts} />
            </section>
          )}
        </div>
      </div>
    </div>
  );
}

function Bars({ data }: { data: Data }) {
  const words = t.value.overview;
  return (
    <section class="card">
      <header class="card-head">
        <h2>{words.bars}</h2>
        <Door view="step">{t.value.views.step}</Door>
      </header>
      {data.bars.length > 0 ? (
        <StepBars bars={data.bars} />
      ) : (
        <p class="quiet empty-line">{words.noBars}</p>
      )}
      {data.bars_note && <p class="quiet">{data.bars_note}</p>}
    </section>
  );
}

function TopKernels({ table }: { table: Data['top_kernels'] }) {
  const words = t.value.overview;
  const first = table?.columns.find((column) => column.key in table.values);
  return (
    <section class="card kernels-card">
      <header class="card-head">
        <h2>{words.kernels}</h2>
        <Door view="kernel">{words.allKernels}</Door>
      </header>
      {table && table.total > 0 ? (
        <SimpleTable
          table={table}
          label={words.kernels}
          door={(row, key) => {
            const term =
              first && key === first.key ? termFor(first, table.values[first.key]?.[row]) : null;
            return term ? { view: 'kernel', patch: { filter: term } } : null;
          }}
        />
      ) : (
        <p class="quiet empty-line">{t.value.table.noneRecorded.kernel}</p>
      )}
    </section>
  );
}

function Placeholder() {
  return (
    <div class="overview">
      <Skeleton rows={0} />
      <div class="cards">
        {Array.from({ length: 5 }, (_, i) => (
          <div key={i} class="card">
            <Skeleton rows={2} />
          </div>
        ))}
      </div>
      <div class="overview-columns">
        <div class="card">
          <Skeleton rows={5} />
        </div>
        <div class="card">
          <Skeleton rows={4} />
        </div>
      </div>
    </div>
  );
}
