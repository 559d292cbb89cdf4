/** A button with a panel under it. Escape, a click elsewhere or leaving by Tab closes it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './Icon';

interface Props {
  /** What the button is for, in small letters before its value. */
  caption?: string;
  label: ComponentChildren;
  title?: string;
  icon?: IconName;
  class?: string;
  width?: number;
  /** Has nothing to choose now; the panel says why. */
  disabled?: boolean;
  /** `close` takes the focus back to the button. */
  children: (close: () => void) => ComponentChildren;
}

export function Popover(props: Props) {
  const { caption, label, title, icon, class: name = '', width, disabled, children } = props;
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };

  useEffect(() => {
    if (!open) return;
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside, true);
    document.addEventListener('focusin', outside, true);
    return () => {
      document.removeEventListener('pointerdown', outside, true);
      document.removeEventListener('focusin', outside, true);
    };
  }, [open]);

  return (
    <div
      class={`popover ${name}`}
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={button}
        type="button"
        class="button pick"
        aria-haspopup="dialog"
        aria-expanded={open}
        {...(disabled ? { 'aria-disabled': true } : {})}
        title={title}
        onClick={() => setOpen(!open)}
      >
        {icon && <Icon name={icon} />}
        {caption && <span class="pick-caption">{caption}</span>}
        <span class="pick-value">{label}</span>
        <Icon name="down" size={12} />
      </button>
      {open && (
        <Panel button={button.current} {...(width ? { width } : {})} label={caption ?? title ?? ''}>
          {children(close)}
        </Panel>
      )}
    </div>
  );
}

interface PanelProps {
  button: HTMLElement | null;
  width?: number;
  label: string;
  children: ComponentChildren;
}

/**
 * In the top layer, so that nothing around it cuts it off, moves it or covers it; never beyond the
 * edge of a small notebook cell.
 */
function Panel({ button, width = 280, label, children }: PanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const [style, setStyle] = useState('visibility:hidden');
  useLayoutEffect(() => {
    const { current: element } = panel;
    if (!element?.showPopover) return; // a browser of before 2024
    element.popover = 'manual';
    element.showPopover();
  }, []);
  useLayoutEffect(() => {
    if (!button) return;
    const box = button.getBoundingClientRect();
    const wide = Math.min(width, window.innerWidth - 16);
    const left = Math.max(8, Math.min(box.left, window.innerWidth - wide - 8));
    const above = box.top - 12;
    const below = window.innerHeight - box.bottom - 12;
    const place =
      (panel.current?.offsetHeight ?? 0) > below && above > below
        ? `bottom:${window.innerHeight - box.top + 4}px;max-height:${above}px`
        : `top:${box.bottom + 4}px;max-height:${below}px`;
    setStyle(`left:${left}px;${place};width:${wide}px`);
    panel.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
  }, [button, width]);
  return (
    // A press on a label would focus what lies behind, and that closes the panel.
    <div class="panel" role="dialog" aria-label={label} tabIndex={-1} ref={panel} style={style}>
      {children}
    </div>
  );
}
