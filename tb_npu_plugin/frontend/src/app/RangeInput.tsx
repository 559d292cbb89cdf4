/** A box for `0,2,5-7`; what cannot be read, or is not there, is said under it. */
import { useState } from 'preact/hooks';
import { t } from '../i18n';
import { formatRanges, parseRanges } from '../lib/ranges';

interface Props {
  value: string;
  there: readonly number[];
  onChange: (values: number[]) => void;
}

export function RangeInput({ value, there, onChange }: Props) {
  const words = t.value.pick;
  const [text, setText] = useState(value);
  const { values, error } = parseRanges(text);
  const known = new Set(there);
  const missing = known.size > 0 ? values.filter((each) => !known.has(each)) : [];
  const problem =
    error !== null
      ? words.badRange(error)
      : missing.length > 0
        ? words.notThere(formatRanges(missing, ', ', '–'))
        : '';
  const apply = () => {
    const usable = values.filter((each) => known.size === 0 || known.has(each));
    if (error === null && usable.length > 0) onChange(usable);
  };
  return (
    <form
      class="range-input"
      onSubmit={(event) => {
        event.preventDefault();
        apply();
      }}
    >
      <div class="range-row">
        <input
          class="input"
          data-autofocus
          inputMode="numeric"
          placeholder={words.ranges}
          aria-label={words.rangesLabel}
          aria-invalid={problem !== ''}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button
          type="submit"
          class="button primary"
          disabled={error !== null || values.length === 0}
        >
          {words.apply}
        </button>
      </div>
      {problem && (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
