/** How the job is cut into parallel groups: as the files tell, or as the reader types it. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { t } from '../../i18n';
import { navigate, params } from '../../state/route';

export function Shape({ known }: { known: string }) {
  const words = t.value.ranks;
  const own = params.value.shape ?? '';
  const [open, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (open) input.current?.select();
  }, [open]);
  const shown = own.replace(/[,\s]+/g, ' ') || known;
  if (!open) {
    return (
      <span class="rank-shape">
        <span class="quiet">{words.shape}</span> {shown || words.noShape}{' '}
        <button type="button" class="link" title={words.shapeHint} onClick={() => setOpen(true)}>
          {words.setShape}
        </button>{' '}
        {own && (
          <button type="button" class="link" onClick={() => navigate({ shape: null })}>
            {words.ownShape}
          </button>
        )}
      </span>
    );
  }
  return (
    <form
      class="rank-shape"
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get('shape') ?? '').trim();
        navigate({ shape: text || null, offset: null });
        setOpen(false);
      }}
    >
      <label>
        <span class="quiet">{words.shape}</span>{' '}
        <input
          class="input"
          name="shape"
          ref={input}
          value={shown.replace(/ /g, ',')}
          placeholder="tp=8,pp=2"
          title={words.shapeHint}
          onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
        />
      </label>
    </form>
  );
}
