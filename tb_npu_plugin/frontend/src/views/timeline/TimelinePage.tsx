/** The timeline: every event to scale, and what the file says of each. */

import type { Meta, TimelineReply } from '../../api/types.gen';
import { FindingItem } from '../../components/FindingItem';
import { Notice, Strip } from '../../components/Notice';
import { Skeleton } from '../../components/Skeleton';
import { LongText } from '../../components/Text';
import { ViewStatus } from '../../components/ViewStatus';
import { Waiting } from '../../components/Waiting';
import { t } from '../../i18n';
import { selectionQuery } from '../../state/query';
import { useReply } from '../../state/useReply';
import { Board } from './Board';

export function TimelinePage() {
  const { reply, error, stale } = useReply<TimelineReply>('timeline', selectionQuery());
  if (!reply) return <Waiting error={error} />;
  const { data, meta } = reply;
  const nothing = data.base_ns === null || data.tracks.length === 0;
  return (
    <div class={`timeline-view${stale ? ' refreshing' : ''}`}>
      {error && <Strip icon="warning" tone="warning" title={error.message} />}
      <ViewStatus meta={meta} listed={nothing} />
      {data.note && (
        <p class="quiet">
          <LongText text={data.note} />
        </p>
      )}
      {nothing ? <Nothing meta={meta} /> : <Board data={data} />}
    </div>
  );
}

/** Nothing yet, or nothing at all and why. */
function Nothing({ meta }: { meta: Meta }) {
  const words = t.value.timeline;
  if (meta.state === 'ingesting' || meta.state === 'partial') {
    return (
      <section class="card">
        <Skeleton rows={8} />
      </section>
    );
  }
  return (
    <Notice title={words.nothing} hint={words.nothingHint}>
      <div class="reasons">
        {meta.findings.slice(0, 5).map((finding) => (
          <FindingItem key={finding.id} finding={finding} />
        ))}
      </div>
    </Notice>
  );
}
