/** Every operator call on the host, or groups of them, with the device time it led to. */
import type { OperatorReply } from '../../api/types.gen';
import { DataTable } from '../../components/table/DataTable';
import { t } from '../../i18n';

const tableOf = (reply: OperatorReply) => reply.data.table;
const noteOf = (reply: OperatorReply) => reply.data.note;

export function Operators() {
  return (
    <DataTable<OperatorReply>
      view="operator"
      tableOf={tableOf}
      title={t.value.views.operator}
      note={noteOf}
    />
  );
}
