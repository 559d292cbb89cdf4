/** Copies, and says so where it was pressed. */
import { useEffect, useState } from 'preact/hooks';
import { t } from '../i18n';
import { copyText } from '../lib/copy';
import { Icon, type IconName } from './Icon';

interface Props {
  text: string | (() => string);
  label?: string;
  title?: string;
  icon?: IconName;
  class?: string;
}

type Done = 'copied' | 'copyFailed' | null;

export function CopyButton({ text, label, title, icon = 'copy', class: name = 'button' }: Props) {
  const [done, setDone] = useState<Done>(null);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(null), 1500);
    return () => clearTimeout(timer);
  }, [done]);
  const words = t.value;
  const hint = title ?? words.copy;
  return (
    <button
      type="button"
      class={name}
      title={hint}
      aria-label={label ? undefined : hint}
      onClick={async (event) => {
        event.stopPropagation();
        const copied = await copyText(typeof text === 'function' ? text() : text);
        setDone(copied ? 'copied' : 'copyFailed');
      }}
    >
      <Icon name={done === 'copied' ? 'check' : icon} />
      {label && <span aria-live="polite">{done ? words[done] : label}</span>}
    </button>
  );
}
