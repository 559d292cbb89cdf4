/** A fact that the files tell, or that the reader types in: shown, and changed in place. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../i18n';
import { navigate, params } from '../state/route';

interface Props {
  /** The key of the link that holds what the reader typed. */
  param: 'shape' | 'peak';
  label: string;
  known: string;
  example: string;
  hint: string;
}

export function TextSetting({ param, label, known, example, hint }: Props) {
  const words = t.value.setting;
  const own = params.value[param] ?? '';
  const [open, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (open) input.current?.select();
  }, [open]);
  const shown = own.replace(/[,\s]+/g, ' ') || known;
  if (!open) {
    return (
      <span class="text-setting">
        <span class="quiet">{label}</span> {shown || words.unknown}{' '}
        <button type="button" class="link" title={hint} onClick={() => setOpen(true)}>
          {words.set}
        </button>{' '}
        {own && (
          <button
            type="button"
            class="link"
            onClick={() => navigate({ [param]: null, offset: null })}
          >
            {words.asTold}
          </button>
        )}
      </span>
    );
  }
  return (
    <form
      class="text-setting"
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get('text') ?? '').trim();
        navigate({ [param]: text || null, offset: null });
        setOpen(false);
      }}
    >
      <label>
        <span class="quiet">{label}</span>{' '}
        <input
          class="input"
          name="text"
          ref={input}
          value={shown.replace(/ /g, ',')}
          placeholder={example}
          title={hint}
          onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
        />
      </label>
    </form>
  );
}
