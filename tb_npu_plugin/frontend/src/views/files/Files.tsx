/** Every file of the selection with what was read of it, and how the profiler was set. */
import type { FilesReply } from '../../api/types.gen';
import { Facts } from '../../components/Facts';
import { DataTable } from '../../components/table/DataTable';
import { t } from '../../i18n';

const tableOf = (reply: FilesReply) => reply.data.table;

export function Files() {
  return (
    <div class="files-view">
      <DataTable<FilesReply>
        view="files"
        tableOf={tableOf}
        title={t.value.views.files}
        after={(reply) => <Settings settings={reply.data.settings} />}
      />
    </div>
  );
}

function Settings({ settings }: { settings: FilesReply['data']['settings'] }) {
  const words = t.value.files;
  return (
    <section class="card settings-card">
      <h2>{words.settings}</h2>
      {settings.length > 0 ? (
        <Facts facts={settings} wide />
      ) : (
        <p class="quiet">{words.noSettings}</p>
      )}
    </section>
  );
}
