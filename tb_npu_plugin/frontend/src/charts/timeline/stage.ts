/**
 * The canvas of the timeline: where it looks, what it asks for, when it draws. It draws only when
 * something changed, and not while nobody sees it.
 */

import type { WindowData } from '../../api/timelineWindow';
import { isHidden, onWake } from '../../state/host';
import { drawHead, HEAD } from './head';
import { Inks } from './inks';
import { Motion } from './motion';
import {
  type Box,
  drawArrows,
  drawBox,
  drawLine,
  drawRange,
  drawSticky,
  drawZoomBox,
} from './overlay';
import { itemsWithin, type Scene } from './paint';
import { Past } from './past';
import { ABOVE, Picture, ratioNow, sized, type View } from './picture';
import { type Hit, hitAt, placeOf } from './place';
import { metricsOf, rowsBetween } from './rows';
import { kept, lengthOf, type Span, sameSpan, timeAt } from './span';
import type { StageEvents, StageInput } from './stageInput';
import { Windows } from './windows';

const ASK_MS = 40;
const SETTLE_MS = 250;

export class Stage {
  span: Span;
  width = 0;
  height = 0;
  scroll = 0;
  hover: Box | null = null;
  /** Where the pointer is, as a moment. */
  pointer: number | null = null;
  /** A box that is being drawn, in pixels of the canvas. */
  box: readonly [x0: number, y0: number, x1: number, y1: number] | null = null;
  readonly motion: Motion;
  private readonly windows: Windows;
  private readonly overview: Windows;
  private readonly past = new Past();
  private readonly picture = new Picture();
  private readonly inks: Inks;
  private revision = 0;
  private frame = 0;
  private askTimer: ReturnType<typeof setTimeout> | undefined;
  private settleTimer: ReturnType<typeof setTimeout> | undefined;
  private readonly stopWake: () => void;

  constructor(
    readonly element: HTMLCanvasElement,
    private input: StageInput,
    span: Span,
    private readonly events: StageEvents,
  ) {
    this.span = kept(span, input.whole);
    this.inks = new Inks(element);
    const still = window.matchMedia?.('(prefers-reduced-motion: reduce)');
    this.motion = new Motion(() => still?.matches ?? false);
    const arrive = (data: WindowData) => {
      this.revision++;
      events.onError(null);
      events.onLegend(data.legend);
      this.settle();
      this.draw();
    };
    this.windows = new Windows(events.ask, arrive, events.onError);
    this.overview = new Windows(
      events.ask,
      () => this.draw(),
      () => {},
    );
    this.stopWake = onWake(() => {
      this.ask();
      this.draw();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.askTimer);
    clearTimeout(this.settleTimer);
    this.windows.stop();
    this.overview.stop();
    this.stopWake();
  }

  update(input: StageInput): void {
    const before = this.input;
    this.input = input;
    if (before.dark !== input.dark) this.inks.forget();
    const other = (['tree', 'dense', 'dark', 'colour', 'finding', 'key'] as const).some(
      (name) => before[name] !== input[name],
    );
    if (other) this.revision++;
    if (before.whole !== input.whole) this.span = kept(this.span, input.whole);
    this.ask();
    this.draw();
  }

  resize(width: number, height: number): void {
    if (width === this.width && height === this.height) return;
    this.width = width;
    this.height = height;
    this.revision++;
    this.ask();
    this.draw();
  }

  scrollTo(scroll: number): void {
    if (scroll === this.scroll) return;
    this.scroll = scroll;
    this.ask();
    this.draw();
  }

  /** Looks at `span`; a step that `undo` takes back. */
  show(span: Span, how: 'go' | 'jump' = 'go'): void {
    this.remember();
    const next = kept(span, this.input.whole);
    if (how === 'go') this.motion.go(this.span, next, performance.now());
    else this.put(next);
    this.ask();
    this.draw();
  }

  /** Moves along with the pointer or the wheel. */
  put(span: Span): void {
    this.motion.stop();
    if (sameSpan(span, this.span)) return;
    this.span = span;
    this.settle();
    this.ask();
    this.draw();
  }

  /** Before a movement begins. */
  remember(): void {
    this.past.keep(this.span, performance.now());
  }

  undo(): void {
    const last = this.past.back(this.motion.goal(this.span));
    if (!last) return;
    this.motion.go(this.span, last, performance.now());
    this.ask();
    this.draw();
  }

  timeAt(x: number): number {
    return timeAt(this.span, x, this.width);
  }

  /** `y` of the canvas. */
  hitAt(x: number, y: number): Hit | null {
    if (y < HEAD) return null;
    const field = {
      rows: this.input.tree.rows,
      metrics: metricsOf(this.input.dense),
      span: this.span,
      width: this.width,
      dataOf: this.dataOf,
    };
    return hitAt(field, this.timeAt(x), y - HEAD + this.scroll);
  }

  placeOf(track: number, depth: number) {
    return placeOf(this.input.tree.rows, metricsOf(this.input.dense), track, depth);
  }

  dataOf = (track: number): WindowData | null =>
    this.windows.best(track, this.span, this.width, this.input.key);

  get busy(): boolean {
    return this.windows.busy;
  }

  /** Draws in the next frame; while it moves, in each. */
  draw(): void {
    if (this.frame !== 0 || isHidden()) return;
    this.frame = requestAnimationFrame((now) => {
      this.frame = 0;
      this.tick(now);
    });
  }

  private tick(now: number): void {
    if (this.width <= 0 || this.height <= HEAD) return;
    let zooming = false;
    if (this.motion.moving) {
      const centre = this.pointer ?? (this.span[0] + this.span[1]) / 2;
      const next = this.motion.step(this.span, this.input.whole, centre, now);
      zooming = Math.abs(lengthOf(next) / lengthOf(this.span) - 1) > 1e-6;
      this.span = next;
      this.ask();
      this.settle();
    }
    this.render(now, zooming && this.motion.moving);
    if (this.motion.moving) this.draw();
  }

  private rowsOnScreen(above: number) {
    const { rows } = this.input.tree;
    return rowsBetween(rows, this.scroll - above, this.scroll + this.height - HEAD + above);
  }

  private ask(): void {
    if (this.askTimer !== undefined) return;
    this.askTimer = setTimeout(() => {
      this.askTimer = undefined;
      if (this.width <= 0 || isHidden()) return;
      const { whole, key, query, overview } = this.input;
      const tracks = this.rowsOnScreen(ABOVE).flatMap((row) => row.tracks.map((each) => each.id));
      const common = { whole, width: this.width, key, query };
      const unique = [...new Set(tracks)];
      if (unique.length > 0) {
        this.windows.want({ ...common, span: this.motion.goal(this.span), tracks: unique });
      }
      // The picture of the whole waits: what is looked at comes first.
      if (overview.length > 0 && !this.windows.busy) {
        const tracks = overview.map((each) => each.id);
        const asked = { ...common, query: this.input.overviewQuery, key: this.overviewKey() };
        this.overview.want({ ...asked, span: whole, tracks });
      }
    }, ASK_MS);
  }

  /** The whole keeps its colours whatever is looked for. */
  private overviewKey(): string {
    return JSON.stringify([this.input.overviewQuery, this.input.version]);
  }

  private settle(): void {
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => {
      if (this.motion.moving) return;
      this.ask();
      const tracks = this.rowsOnScreen(0).flatMap((row) => row.tracks);
      this.events.onSettle(this.span, itemsWithin(tracks, this.dataOf, this.span));
    }, SETTLE_MS);
  }

  private scene(above: number): Scene {
    const cache = new Map<number, WindowData | null>();
    return {
      rows: this.rowsOnScreen(above),
      metrics: metricsOf(this.input.dense),
      dense: this.input.dense,
      palette: this.inks.palette(this.input.dark),
      token: this.inks.token,
      dataOf: (track) => {
        if (!cache.has(track)) cache.set(track, this.dataOf(track));
        return cache.get(track) ?? null;
      },
      colour: this.input.colour,
      finding: this.input.finding,
      font: this.inks.font(this.input.dense),
    };
  }

  private render(now: number, zooming: boolean): void {
    const view = {
      span: this.span,
      width: this.width,
      height: this.height - HEAD,
      scroll: this.scroll,
    };
    this.picture.prepare(view, () => this.scene(ABOVE), this.revision, zooming, now);
    const ink = this.element.getContext('2d', { alpha: false });
    if (!ink) return;
    const ratio = ratioNow();
    sized(this.element, this.width, this.height, ratio);
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = this.scene(0);
    ink.fillStyle = scene.palette.ground;
    ink.fillRect(0, 0, this.width, this.height);
    this.picture.copy(ink, view, HEAD);
    this.over(ink, scene, view);
    this.events.onScroll(this.scroll);
  }

  private over(ink: CanvasRenderingContext2D, scene: Scene, screen: View): void {
    const { input } = this;
    const { rows } = input.tree;
    ink.save();
    ink.translate(0, HEAD);
    ink.beginPath();
    ink.rect(0, 0, this.width, screen.height);
    ink.clip();
    ink.font = scene.font;
    ink.textBaseline = 'middle';
    ink.textAlign = 'left';
    drawSticky(ink, scene, screen);
    for (const step of input.steps) drawLine(ink, screen, step.start, scene.token('line'), [2, 3]);
    if (input.range) drawRange(ink, scene, screen, input.range);
    for (const marker of input.markers) {
      drawLine(ink, screen, marker.time, scene.token('warning'), []);
    }
    drawArrows(ink, scene, screen, rows, input.arrows);
    if (this.hover) drawBox(ink, scene, screen, rows, this.hover, false);
    if (input.selected) drawBox(ink, scene, screen, rows, input.selected, true);
    if (this.pointer !== null) drawLine(ink, screen, this.pointer, scene.token('ink3'), [1, 3]);
    ink.restore();
    ink.font = this.inks.font(false);
    ink.textBaseline = 'middle';
    ink.textAlign = 'left';
    const overview = input.overview.flatMap((track) => {
      const data = this.overview.best(track.id, input.whole, this.width, this.overviewKey());
      return data ? [{ track, data }] : [];
    });
    drawHead(ink, scene, this.width, { ...input, span: this.span, overview });
    if (this.box) drawZoomBox(ink, scene, this.box);
  }
}
