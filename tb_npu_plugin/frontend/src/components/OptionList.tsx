/** A list to choose one of, with a search box once it is long. Arrow keys move, Enter chooses. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { t } from '../i18n';

export interface Option {
  value: string;
  text: string;
  note?: ComponentChildren;
}

interface Props {
  options: readonly Option[];
  value: string | null;
  onChoose: (value: string) => void;
}

const SEARCH_FROM = 8;
const DRAWN = 200;

export function OptionList({ options, value, onChoose }: Props) {
  const [search, setSearch] = useState('');
  const list = useRef<HTMLDivElement>(null);
  const searchable = options.length >= SEARCH_FROM;
  const wanted = search.trim().toLowerCase();
  const found = options.filter((option) => option.text.toLowerCase().includes(wanted));
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const items = [...(list.current?.querySelectorAll<HTMLElement>('.option') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    items[Math.max(0, Math.min(items.length - 1, at + step))]?.focus();
  };
  return (
    <div class="options" onKeyDown={move}>
      {searchable && (
        <input
          type="search"
          class="input"
          data-autofocus
          placeholder={t.value.pick.search}
          aria-label={t.value.pick.search}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      )}
      <div class="option-list" role="listbox" ref={list}>
        {found.slice(0, DRAWN).map((option) => (
          <button
            type="button"
            key={option.value}
            class="option"
            role="option"
            aria-selected={option.value === value}
            {...(!searchable && option.value === value ? { 'data-autofocus': true } : {})}
            onClick={() => onChoose(option.value)}
          >
            <bdi>{option.text}</bdi>
            {option.note && <span class="option-note">{option.note}</span>}
          </button>
        ))}
        {found.length === 0 && <p class="quiet">{t.value.pick.noMatch}</p>}
        {found.length > DRAWN && <p class="quiet">…</p>}
      </div>
    </div>
  );
}
