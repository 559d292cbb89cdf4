/** A state of a page, said in its place: what is, why, and what to do. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './Icon';

interface Props {
  icon?: IconName;
  tone?: 'plain' | 'error' | 'warning' | 'fine';
  title: string;
  hint?: string;
  children?: ComponentChildren;
}

/** Fills the place of what is missing. */
export function Notice({ icon = 'info', tone = 'plain', title, hint, children }: Props) {
  return (
    <section class={`notice n-${tone}`} role={tone === 'error' ? 'alert' : 'status'}>
      <Icon name={icon} size={24} />
      <h2>{title}</h2>
      {hint && <p class="quiet">{hint}</p>}
      {children}
    </section>
  );
}

/** One quiet line above what is there. */
export function Strip({ icon = 'info', tone = 'plain', title, hint, children }: Props) {
  return (
    <div class={`strip n-${tone}`} role="status">
      <Icon name={icon} />
      <span>
        <b>{title}</b> {hint && <span class="quiet">{hint}</span>}
      </span>
      {children}
    </div>
  );
}
