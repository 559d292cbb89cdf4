/** A page or a part of it could not be had: what happened and what can be done. */
import { ApiError, GoneError } from '../api/client';
import type { ErrorBody } from '../api/types.gen';
import { t } from '../i18n';
import { navigate, OTHER_RECORDING, VIEW_KEYS } from '../state/route';
import { reload } from '../state/session';
import { Notice } from './Notice';

/** Refusals that leave the recording standing. */
const PARTS = ['no-such-rank', 'no-such-device', 'no-such-step'];

export function Failure({ error }: { error: Error }) {
  const words = t.value;
  if (error instanceof GoneError) {
    return (
      <Notice icon="warning" tone="warning" title={words.state.gone} hint={words.state.goneHint} />
    );
  }
  if (error instanceof ApiError && error.status === 404) return <NotFound body={error.body} />;
  const body = error instanceof ApiError ? error.body : null;
  return (
    <Notice
      icon="error"
      tone="error"
      title={words.state.error}
      hint={body?.message ?? error.message}
    >
      {body?.hint && <p class="quiet">{body.hint}</p>}
      {error instanceof ApiError && error.status === 400 ? (
        <button type="button" class="button primary" onClick={resetView}>
          {words.state.reset}
        </button>
      ) : (
        <button type="button" class="button primary" onClick={reload}>
          {words.retry}
        </button>
      )}
    </Notice>
  );
}

const SELECTED = { rank: null, device: null, step: null, offset: null };

/** What the link selects is not there: the recording itself, or a rank, device or step of it. */
function NotFound({ body }: { body: ErrorBody }) {
  const words = t.value.state;
  const part = PARTS.includes(body.code);
  return (
    <Notice
      icon="warning"
      tone="warning"
      title={part ? body.message : words.notFound}
      hint={part ? body.hint : words.notFoundHint}
    >
      {!part && <p class="quiet">{body.message}</p>}
      <button
        type="button"
        class="button primary"
        onClick={() =>
          navigate(
            part ? SELECTED : { ...SELECTED, ...OTHER_RECORDING, run: null, recording: null },
          )
        }
      >
        {part ? words.showAll : words.showNewest}
      </button>
    </Notice>
  );
}

/** The link asks for what this table does not have, such as a column of another grouping. */
function resetView(): void {
  navigate(Object.fromEntries(VIEW_KEYS.map((key) => [key, null])));
}
