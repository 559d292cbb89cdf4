/** Which files the rows came from, and the choice where a capture holds them in several forms. */
import type { Meta } from '../../api/types.gen';
import { t } from '../../i18n';
import { navigate } from '../../state/route';
import { OptionList } from '../OptionList';
import { Popover } from '../Popover';

export function Source({ meta }: { meta: Meta }) {
  const words = t.value.table;
  const [first, ...others] = [...new Set(Object.values(meta.provenance))];
  if (!first) return null;
  const all = Object.entries(meta.provenance).map(([table, files]) => `${table}: ${files}`);
  const title = [words.source, ...all].join('\n');
  const text = others.length > 0 ? `${first} +${others.length}` : first;
  if (meta.sources.length < 2) {
    return (
      <span class="source" title={title}>
        {text}
      </span>
    );
  }
  return (
    <Popover caption={words.source} label={text} title={title} width={240}>
      {(close) => (
        <OptionList
          value={meta.sources[0] ?? null}
          options={meta.sources.map((source) => ({
            value: source,
            text: words.sources[source] ?? source,
          }))}
          onChoose={(source) => {
            navigate({ source, offset: null });
            close();
          }}
        />
      )}
    </Popover>
  );
}
