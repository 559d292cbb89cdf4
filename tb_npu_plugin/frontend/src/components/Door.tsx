/** A link to another view: a click opens it here, the middle button in a new browser tab. */
import type { ComponentChildren } from 'preact';
import { hrefOf, openView, type Patch } from '../state/route';

interface Props {
  view: string;
  patch?: Patch;
  class?: string;
  title?: string;
  label?: string;
  current?: boolean;
  children: ComponentChildren;
}

export function Door({
  view,
  patch,
  title,
  label,
  current,
  children,
  class: name = 'door',
}: Props) {
  return (
    <a
      class={name}
      href={hrefOf(view, patch)}
      target="_top"
      {...(title ? { title } : {})}
      {...(label ? { 'aria-label': label } : {})}
      {...(current ? { 'aria-current': 'page' } : {})}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        openView(view, patch);
      }}
    >
      {children}
    </a>
  );
}
