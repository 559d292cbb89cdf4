/** What the pointer and the wheel do on the canvas. */
import { HEAD, MAP } from './head';
import { lengthOf, moved, type Span, timeAt, zoomed } from './span';
import type { Stage } from './stage';

export interface GestureEvents {
  whole: () => Span;
  /** Scrolls the rows by pixels. */
  onScrollBy: (by: number) => void;
  onRange: (range: Span | null, done: boolean) => void;
  onClick: (x: number, y: number) => void;
  onDouble: (x: number, y: number) => void;
  onHover: (event: PointerEvent, x: number, y: number) => void;
  onLeave: () => void;
  /** The tool button: a drag draws a box. */
  boxing: () => boolean;
  onBoxed: () => void;
}

type Drag =
  | { kind: 'pan'; span: Span; moved: boolean }
  | { kind: 'range'; from: number; moved: boolean }
  | { kind: 'map'; moved: boolean }
  | { kind: 'box'; moved: boolean };

/** A shorter way is a click with an unsteady hand. */
const LEAST_DRAG = 4;
const WHEEL_LINE = 16;
/** A box as flat as a row only means times. */
const FLAT = 20;

export class Gestures {
  private drag: (Drag & { x: number; y: number; lastY: number }) | null = null;
  private readonly fingers = new Map<number, { x: number; y: number }>();
  private pinch: { length: number; span: Span; middle: number } | null = null;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly stage: Stage,
    private readonly events: GestureEvents,
  ) {}

  place(event: MouseEvent): { x: number; y: number } {
    const edge = this.canvas.getBoundingClientRect();
    return { x: event.clientX - edge.left, y: event.clientY - edge.top };
  }

  down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const at = this.place(event);
    this.canvas.setPointerCapture?.(event.pointerId);
    this.fingers.set(event.pointerId, at);
    const { stage } = this;
    if (this.fingers.size === 2) {
      this.drag = null;
      this.pinch = this.pinchNow();
      return;
    }
    const common = { ...at, lastY: at.y, moved: false };
    if (at.y < MAP) this.drag = { kind: 'map', ...common };
    else if (at.y < HEAD || event.shiftKey) {
      this.drag = { kind: 'range', from: stage.timeAt(at.x), ...common };
    } else if (event.altKey || this.events.boxing()) this.drag = { kind: 'box', ...common };
    else this.drag = { kind: 'pan', span: stage.span, ...common };
    if (this.drag.kind === 'map') {
      stage.remember();
      this.moveMap(at.x);
    }
  }

  move(event: PointerEvent): void {
    const at = this.place(event);
    if (this.fingers.has(event.pointerId)) this.fingers.set(event.pointerId, at);
    if (this.pinch) {
      this.pinching();
      return;
    }
    const { drag, stage } = this;
    if (!drag) {
      this.events.onHover(event, at.x, at.y);
      return;
    }
    if (!drag.moved && Math.hypot(at.x - drag.x, at.y - drag.y) < LEAST_DRAG) return;
    if (!drag.moved) {
      drag.moved = true;
      this.events.onLeave();
      if (drag.kind === 'pan' || drag.kind === 'box') stage.remember();
    }
    if (drag.kind === 'pan') {
      const by = ((drag.x - at.x) / stage.width) * lengthOf(drag.span);
      stage.put(moved(drag.span, by, this.events.whole()));
      this.events.onScrollBy(drag.lastY - at.y);
      drag.lastY = at.y;
    } else if (drag.kind === 'range') {
      this.events.onRange(this.rangeTo(drag.from, at.x), false);
    } else if (drag.kind === 'map') this.moveMap(at.x);
    else {
      stage.box = [drag.x, drag.y, at.x, at.y];
      stage.draw();
    }
  }

  up(event: PointerEvent): void {
    const at = this.place(event);
    this.fingers.delete(event.pointerId);
    if (this.fingers.size < 2) this.pinch = null;
    const { drag, stage } = this;
    this.drag = null;
    if (!drag) return;
    if (!drag.moved) {
      if (drag.kind !== 'map') this.events.onClick(at.x, at.y);
      return;
    }
    if (drag.kind === 'range') this.events.onRange(this.rangeTo(drag.from, at.x), true);
    if (drag.kind === 'box') {
      stage.box = null;
      const ends = [stage.timeAt(drag.x), stage.timeAt(at.x)].sort((a, b) => a - b);
      if (Math.abs(at.x - drag.x) >= LEAST_DRAG) stage.show([ends[0] ?? 0, ends[1] ?? 1]);
      this.fitRows(drag.y, at.y);
      stage.draw();
      this.events.onBoxed();
    }
  }

  cancel(): void {
    this.drag = null;
    this.pinch = null;
    this.fingers.clear();
    this.stage.box = null;
    this.stage.draw();
  }

  double(event: MouseEvent): void {
    const { x, y } = this.place(event);
    this.events.onDouble(x, y);
  }

  /** Ctrl zooms, Shift and a sideways wheel pan; all else scrolls, as the browser does it. */
  wheel(event: WheelEvent): void {
    const { stage } = this;
    const unit = event.deltaMode === 1 ? WHEEL_LINE : event.deltaMode === 2 ? stage.height : 1;
    const dx = (event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX) * unit;
    const dy = event.deltaY * unit;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      stage.remember();
      const centre = stage.timeAt(this.place(event).x);
      // A pinch on a touchpad comes in small steps, a notch of a wheel in one of 100.
      const factor = Math.exp(Math.max(-0.6, Math.min(0.6, dy * 0.004)));
      stage.put(zoomed(stage.span, centre, factor, this.events.whole()));
    } else if (event.shiftKey || Math.abs(dx) > Math.abs(dy)) {
      event.preventDefault();
      stage.remember();
      const by = (dx / stage.width) * lengthOf(stage.span);
      stage.put(moved(stage.span, by, this.events.whole()));
    }
  }

  /** Rows keep their height: those of a box that was drawn over the rows come to the middle. */
  private fitRows(from: number, to: number): void {
    const { top, height } = this.stage;
    const [upper, lower] = from < to ? [from, to] : [to, from];
    if (upper < top || lower - upper < FLAT) return;
    this.events.onScrollBy((upper + lower) / 2 - (top + height) / 2);
  }

  private rangeTo(from: number, x: number): Span {
    const to = this.stage.timeAt(Math.min(this.stage.width, Math.max(0, x)));
    return from < to ? [from, to] : [to, from];
  }

  private moveMap(x: number): void {
    const whole = this.events.whole();
    const middle = timeAt(whole, x, this.stage.width);
    const half = lengthOf(this.stage.span) / 2;
    this.stage.put(moved([middle - half, middle + half], 0, whole));
  }

  private pinchNow() {
    const [a, b] = [...this.fingers.values()];
    if (!a || !b) return null;
    const { stage } = this;
    const middle = stage.timeAt((a.x + b.x) / 2);
    stage.remember();
    return { length: Math.max(20, Math.abs(a.x - b.x)), span: stage.span, middle };
  }

  private pinching(): void {
    const [a, b] = [...this.fingers.values()];
    if (!a || !b || !this.pinch) return;
    const { length, span, middle } = this.pinch;
    const whole = this.events.whole();
    const next = zoomed(span, middle, length / Math.max(20, Math.abs(a.x - b.x)), whole);
    const drift = middle - timeAt(next, (a.x + b.x) / 2, this.stage.width);
    this.stage.put(moved(next, drift, whole));
  }
}
