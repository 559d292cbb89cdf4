/** Calls into CANN and the runtime, summed by API. */
import type { ApiReply } from '../../api/types.gen';
import { DataTable } from '../../components/table/DataTable';
import { t } from '../../i18n';

const tableOf = (reply: ApiReply) => reply.data.table;
const noteOf = (reply: ApiReply) => reply.data.note;

export function HostApi() {
  return (
    <DataTable<ApiReply> view="api" tableOf={tableOf} title={t.value.views.api} note={noteOf} />
  );
}
