/** Below the tracks: the selected slice or range. Its upper edge can be dragged. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../../components/Icon';
import { t } from '../../i18n';

const HEIGHT = 220;
/** A table needs more. */
const TALL = 320;
/** … but in a small notebook cell the tracks come first. */
const SHARE = 0.42;
const LEAST = 110;
/** What is left to the tracks. */
const ABOVE = 240;
const KEY_STEP = 24;

interface Props {
  label: string;
  tall?: boolean;
  onEscape: () => void;
  children: ComponentChildren;
}

export function Panel({ label, tall = false, onEscape, children }: Props) {
  const words = t.value.timeline;
  const [height, setHeight] = useState(() =>
    Math.round(Math.min(tall ? TALL : HEIGHT, window.innerHeight * SHARE)),
  );
  const drag = useRef<{ y: number; height: number } | null>(null);
  const set = (next: number) =>
    setHeight(Math.max(LEAST, Math.min(window.innerHeight - ABOVE, next)));
  return (
    <section
      class="tl-panel"
      aria-label={label}
      tabIndex={-1}
      style={`height:${height}px`}
      onKeyDown={(event) => {
        if (event.key === 'Escape' && !event.defaultPrevented) onEscape();
      }}
    >
      <div
        class="tl-resize"
        role="separator"
        aria-orientation="horizontal"
        aria-label={words.resize}
        aria-valuenow={height}
        tabIndex={0}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          drag.current = { y: event.clientY, height };
        }}
        onPointerMove={(event) => {
          if (drag.current) set(drag.current.height + drag.current.y - event.clientY);
        }}
        onPointerUp={() => {
          drag.current = null;
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowUp') set(height + KEY_STEP);
          else if (event.key === 'ArrowDown') set(height - KEY_STEP);
          else return;
          event.preventDefault();
        }}
      />
      {children}
    </section>
  );
}

interface HeadProps {
  title: ComponentChildren;
  onClose: () => void;
  children?: ComponentChildren;
}

export function PanelHead({ title, onClose, children }: HeadProps) {
  const { close } = t.value;
  return (
    <header class="tl-panel-head">
      <h2>{title}</h2>
      {children}
      <span class="spacer" />
      <button type="button" class="icon-button" title={close} aria-label={close} onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
  );
}
