/** Text that came from a file: isolated from its surroundings, elided, never markup. */
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { visibleLines } from '../lib/text';

const AT_ONCE = 2_000;

/** A block that wraps; very long texts open on demand. */
export function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const clean = visibleLines(text);
  const long = clean.length > AT_ONCE;
  return (
    <span class="long-text">
      <bdi>{long && !all ? clean.slice(0, AT_ONCE) : clean}</bdi>
      {long && !all && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          … {t.value.table.showAll(clean.length)}
        </button>
      )}
    </span>
  );
}
