/** Every kernel of the selection, or groups of them, longest first. */
import type { KernelReply } from '../../api/types.gen';
import { DataTable } from '../../components/table/DataTable';
import { t } from '../../i18n';

const tableOf = (reply: KernelReply) => reply.data.table;
const noteOf = (reply: KernelReply) => reply.data.note;

export function Kernels() {
  return (
    <DataTable<KernelReply>
      view="kernel"
      tableOf={tableOf}
      title={t.value.views.kernel}
      note={noteOf}
    />
  );
}
