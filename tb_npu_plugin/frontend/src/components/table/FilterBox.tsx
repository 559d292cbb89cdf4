/** The filter's box; what the backend does not understand is pointed at, in place. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ErrorBody } from '../../api/types.gen';
import { t } from '../../i18n';
import { Icon } from '../Icon';
import { faultAt } from './filter';

interface Props {
  value: string;
  error: ErrorBody | null;
  onChange: (filter: string) => void;
  /** Back to the rows. */
  onLeave: () => void;
}

const DEBOUNCE_MS = 250;

export function FilterBox({ value, error, onChange, onLeave }: Props) {
  const words = t.value.table;
  const [text, setText] = useState(value);
  const sent = useRef(value);
  useEffect(() => {
    // Changed elsewhere (Back, "filter by this"): the box follows.
    if (value !== sent.current) setText(value);
    sent.current = value;
  }, [value]);
  useEffect(() => {
    if (text === sent.current) return;
    const timer = setTimeout(() => send(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  });
  const send = (filter: string) => {
    sent.current = filter;
    onChange(filter);
  };
  return (
    <div class={`filter${error ? ' filter-bad' : ''}`}>
      <Icon name="search" size={14} />
      <input
        type="search"
        class="input"
        value={text}
        placeholder={words.filter}
        aria-label={words.filterLabel}
        title={words.filterHelp}
        aria-invalid={error !== null}
        {...(error ? { 'aria-describedby': 'filter-error' } : {})}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            send(text);
            onLeave();
          } else if (event.key === 'Escape' || event.key === 'ArrowDown') {
            event.preventDefault();
            onLeave();
          }
        }}
      />
      {error && <FilterError filter={value} error={error} />}
    </div>
  );
}

export function FilterError({ filter, error }: { filter: string; error: ErrorBody }) {
  const fault = error.position === null ? null : faultAt(filter, error.position);
  return (
    <div class="filter-error" id="filter-error" role="alert">
      <p>
        <Icon name="error" size={14} /> {error.message}
      </p>
      {fault && (
        <p class="filter-fault">
          <code>
            {fault.before}
            <mark>{fault.at || '\u00a0'}</mark>
            {fault.after}
          </code>
        </p>
      )}
      {error.hint && <p class="quiet">{error.hint}</p>}
    </div>
  );
}
