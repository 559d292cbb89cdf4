/** Every file of the selection with what was read of it, or the rows of one; the profiler's settings. */
import type { FilesReply } from '../../api/types.gen';
import { Door } from '../../components/Door';
import { Facts } from '../../components/Facts';
import { DataTable } from '../../components/table/DataTable';
import { t } from '../../i18n';
import { params } from '../../state/route';

const tableOf = (reply: FilesReply) => reply.data.table;

export function Files() {
  const { file } = params.value;
  const words = t.value.files;
  return (
    <div class="files-view">
      <DataTable<FilesReply>
        key={file}
        view="files"
        tableOf={tableOf}
        title={file ?? t.value.views.files}
        {...(file ? { query: { file }, controls: <All>{words.all}</All> } : {})}
        after={(reply) => (
          <>
            <Others files={reply.data.others} shown={reply.data.file} />
            <Settings settings={reply.data.settings} />
          </>
        )}
      />
    </div>
  );
}

/** Back to the list, which opens as the address says and not as it was left: without a file. */
function All({ children }: { children: string }) {
  return (
    <Door view="files" patch={{ file: null }}>
      {children}
    </Door>
  );
}

function Others({ files, shown }: { files: string[]; shown: string }) {
  if (files.length === 0) return null;
  return (
    <section class="card settings-card">
      <h2>{t.value.files.others}</h2>
      <ul class="others">
        {files.map((file) => (
          <li key={file}>
            {file === shown ? (
              file
            ) : (
              <Door view="files" patch={{ file }}>
                {file}
              </Door>
            )}
          </li>
        ))}
      </ul>
    </section>
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
