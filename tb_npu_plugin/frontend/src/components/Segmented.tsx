/** A few choices side by side, one of them taken. */
interface Props {
  label: string;
  value: string;
  options: readonly { value: string; text: string }[];
  onChoose: (value: string) => void;
}

export function Segmented({ label, value, options, onChoose }: Props) {
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = options.findIndex((option) => option.value === value);
    const next = options[(at + step + options.length) % options.length];
    if (next) onChoose(next.value);
    const buttons = (event.currentTarget as HTMLElement).querySelectorAll('button');
    buttons[(at + step + options.length) % options.length]?.focus();
  };
  return (
    <div class="segmented" role="radiogroup" aria-label={label} onKeyDown={move}>
      {options.map((option) => (
        <button
          type="button"
          key={option.value}
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onChoose(option.value)}
        >
          {option.text}
        </button>
      ))}
    </div>
  );
}
