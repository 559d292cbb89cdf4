/** Every operator call on the host, or groups of them, with the device time it led to. */
import type { OperatorReply } from '../../api/types.gen';
import { DataTable } from '../../components/table/DataTable';
import type { RowValues } from '../../components/table/RowDetail';
import { t } from '../../i18n';
import { CallStacks } from './CallStacks';

const tableOf = (reply: OperatorReply) => reply.data.table;
const noteOf = (reply: OperatorReply) => reply.data.note;
/** A row of one call, or of one call stack, has its stack among its columns. */
const stacksOf = ({ name, stack }: RowValues) =>
  typeof name === 'string' && stack === undefined ? <CallStacks name={name} /> : null;

export function Operators() {
  return (
    <DataTable<OperatorReply>
      view="operator"
      tableOf={tableOf}
      title={t.value.views.operator}
      note={noteOf}
      detail={stacksOf}
    />
  );
}
