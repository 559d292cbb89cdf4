/** Flame graph: what called what, and where the time went, on the host or for the device. */
import { useMemo } from 'preact/hooks';
import type { Flame, FlameReply } from '../../api/types.gen';
import { Icicle } from '../../charts/Icicle';
import type { Order } from '../../charts/icicleLayout';
import { Strip } from '../../components/Notice';
import { Segmented } from '../../components/Segmented';
import { ViewStatus } from '../../components/ViewStatus';
import { Waiting } from '../../components/Waiting';
import { t } from '../../i18n';
import { formatDuration, formatRatio, formatTime } from '../../lib/format';
import { selectionQuery } from '../../state/query';
import { navigate, params } from '../../state/route';
import { useReply } from '../../state/useReply';

export function FlamePage() {
  const { by, from, to, tracks, shift } = params.value;
  const { reply, error, stale } = useReply<FlameReply>('flame', {
    ...selectionQuery(),
    by,
    from,
    to,
    tracks,
    shift,
  });
  if (!reply) return <Waiting error={error} />;
  const { data, meta } = reply;
  return (
    <div class={`flame-view${stale ? ' refreshing' : ''}`}>
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      <ViewStatus meta={meta} listed={data.nodes.name.length === 0} />
      <Controls data={data} />
      {data.nodes.name.length > 0 ? <Tree data={data} /> : <Nothing data={data} />}
    </div>
  );
}

function Nothing({ data }: { data: Flame }) {
  return <Strip icon="info" title={t.value.flame.empty} hint={data.note} />;
}

function Controls({ data }: { data: Flame }) {
  const words = t.value.flame;
  const { order, find, from, to } = params.value;
  const count = find ? matches(data, find).size : 0;
  return (
    <div class="flame-bar">
      <Segmented
        label={words.by}
        value={data.kind}
        options={data.by.map((each) => ({ value: each.id, text: each.label }))}
        onChoose={(by) => navigate({ by, zoom: null })}
      />
      <Segmented
        label={words.order}
        value={order === 'time' ? 'time' : 'heaviest'}
        options={[
          { value: 'heaviest', text: words.heaviest },
          { value: 'time', text: words.time },
        ]}
        onChoose={(next) => navigate({ order: next === 'time' ? next : null })}
      />
      <input
        type="search"
        class="input flame-find"
        placeholder={words.find}
        aria-label={words.findLabel}
        value={find ?? ''}
        onInput={(event) => navigate({ find: event.currentTarget.value }, 'replace')}
      />
      {find && <span class="quiet">{words.found(count)}</span>}
      {from && to && (
        <span class="flame-range">
          {words.range(formatTime(Number(from)), formatTime(Number(to)))}
          <button
            type="button"
            class="button"
            onClick={() =>
              navigate({ from: null, to: null, tracks: null, shift: null, zoom: null })
            }
          >
            {words.wholeRange}
          </button>
        </span>
      )}
    </div>
  );
}

/** The nodes whose name holds `find`, in any case. */
function matches(data: Flame, find: string): ReadonlySet<number> {
  const low = find.toLowerCase();
  return new Set(
    data.nodes.name.flatMap((name, node) => (name.toLowerCase().includes(low) ? [node] : [])),
  );
}

function Tree({ data }: { data: Flame }) {
  const words = t.value.flame;
  const { nodes } = data;
  const { order, find, zoom } = params.value;
  const wanted = zoom ? Number(zoom) : -1;
  const at = Number.isInteger(wanted) && wanted < nodes.name.length ? wanted : -1;
  const found = useMemo(() => (find ? matches(data, find) : null), [data, find]);
  const lang = t.value;
  const describe = useMemo(
    () => (node: number) => {
      const total = nodes.total[node] ?? 0;
      const parent = nodes.parent[node] ?? -1;
      const share = (whole: number | undefined) =>
        whole && whole > 0 ? formatRatio(total / whole) : '–';
      return {
        title: nodes.name[node] ?? '',
        rows: [
          { label: words.total, value: formatDuration(total), share: share(data.total) },
          { label: words.self, value: formatDuration(nodes.self[node] ?? 0) },
          ...(parent >= 0 ? [{ label: words.ofParent, value: share(nodes.total[parent]) }] : []),
          { label: words.calls, value: (nodes.count[node] ?? 0).toLocaleString() },
        ],
      };
    },
    [data, lang],
  );
  return (
    <div class="card flame-card">
      {at >= 0 && (
        <button type="button" class="button" onClick={() => navigate({ zoom: null })}>
          {words.all}
        </button>
      )}
      <Icicle
        nodes={nodes}
        zoom={at}
        order={(order === 'time' ? 'time' : 'heaviest') satisfies Order}
        found={found}
        label={`${words.chart(nodes.name.length)}. ${words.keys}`}
        describe={describe}
        onZoom={(node) => navigate({ zoom: node >= 0 ? String(node) : null })}
      />
    </div>
  );
}
