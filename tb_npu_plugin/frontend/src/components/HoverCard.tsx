/** The one box that follows the pointer over charts: a heading and labelled figures. */
import { signal } from '@preact/signals';
import { visible } from '../lib/text';

export interface HoverRow {
  label: string;
  value: string;
  share?: string;
  /** Colours the row's swatch. */
  concept?: string;
}

export interface HoverContent {
  title: string;
  rows: readonly HoverRow[];
  note?: string;
}

interface Hover extends HoverContent {
  x: number;
  y: number;
}

const hover = signal<Hover | null>(null);

export function showHover(
  event: Pick<PointerEvent, 'clientX' | 'clientY'>,
  content: HoverContent,
): void {
  hover.value = { ...content, x: event.clientX, y: event.clientY };
}

export function hideHover(): void {
  hover.value = null;
}

/** The handlers of an element that has something to say under the pointer. */
export function hoverOn(content: () => HoverContent) {
  const show = (event: PointerEvent) => showHover(event, content());
  return { onPointerMove: show, onPointerEnter: show, onPointerLeave: hideHover };
}

export function HoverCard() {
  const now = hover.value;
  if (!now) return null;
  const width = 320;
  const height = 44 + now.rows.length * 20 + (now.note ? 20 : 0);
  const left = now.x + 16 + width > window.innerWidth ? now.x - width - 12 : now.x + 16;
  const top = Math.max(4, Math.min(now.y + 14, window.innerHeight - height - 4));
  return (
    <div
      class="hover"
      style={`left:${Math.max(4, left)}px;top:${top}px;width:${width}px`}
      aria-hidden="true"
    >
      <div class="hover-title">{visible(now.title)}</div>
      <table>
        <tbody>
          {now.rows.map((row) => (
            <tr key={row.label}>
              <td>{row.concept && <span class={`swatch c-${row.concept}`} />}</td>
              <td>{row.label}</td>
              <td class="figure">{row.value}</td>
              <td class="figure">{row.share}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {now.note && <div class="quiet">{now.note}</div>}
    </div>
  );
}
