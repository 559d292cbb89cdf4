/** No rows: because the filter keeps none, because there are none, or because none were captured. */
import type { Meta, Table } from '../../api/types.gen';
import { t } from '../../i18n';
import type { Tables } from '../../i18n/types';
import { FindingItem } from '../FindingItem';
import { Notice } from '../Notice';

interface Props {
  view: Tables;
  table: Table;
  meta: Meta;
  onClear: () => void;
}

export function EmptyTable({ view, table, meta, onClear }: Props) {
  const words = t.value.table;
  if (table.unfiltered > 0) {
    return (
      <Notice icon="filter" title={words.noMatch}>
        <button type="button" class="button primary" onClick={onClear}>
          {words.clearFilter}
        </button>
      </Notice>
    );
  }
  const why = meta.findings.filter((finding) => finding.severity !== 'info');
  const reasons = why.length > 0 ? why : meta.findings;
  if (reasons.length === 0) {
    // Without columns there was no file to take them from.
    if (table.columns.length === 0) {
      return <Notice title={words.notCaptured} hint={words.notCapturedHint} />;
    }
    return <Notice title={words.noneRecorded[view]} hint={words.noneRecordedHint} />;
  }
  return (
    <Notice title={words.notCaptured}>
      <div class="reasons">
        {reasons.slice(0, 5).map((finding) => (
          <FindingItem key={finding.id} finding={finding} />
        ))}
      </div>
    </Notice>
  );
}
