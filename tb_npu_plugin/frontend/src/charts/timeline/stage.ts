/**
 * The canvas of the timeline: where it looks, what it asks for, when it draws. It draws only when
 * something changed, and not while nobody sees it.
 */

import type { WindowData } from '../../api/timelineWindow';
import { isHidden, onWake } from '../../state/host';
import { Feed } from './feed';
import { drawHead, HEAD } from './head';
import { Inks } from './inks';
import { MapLine } from './mapLine';
import { Motion } from './motion';
import { type Box, drawZoomBox } from './overlay';
import { itemsWithin, type Scene } from './paint';
import { drawOver, type Pane, panesOf } from './pane';
import { Past } from './past';
import { ABOVE, Picture, ratioNow, sized } from './picture';
import { type Hit, hitAt, placeOf } from './place';
import { metricsOf, rowsBetween } from './rows';
import { kept, lengthOf, type Span, sameSpan, timeAt } from './span';
import type { StageEvents, StageInput } from './stageInput';

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
  private readonly feed: Feed;
  private readonly past = new Past();
  private readonly picture = new Picture();
  private readonly pins = new Picture();
  private readonly map = new MapLine();
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
    this.feed = new Feed(events, arrive, () => this.draw());
    this.stopWake = onWake(() => {
      this.ask();
      this.draw();
    });
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.askTimer);
    clearTimeout(this.settleTimer);
    this.feed.stop();
    this.stopWake();
  }

  update(input: StageInput): void {
    const before = this.input;
    this.input = input;
    if (before.dark !== input.dark) this.inks.forget();
    const other = (['tree', 'dense', 'dark', 'colour', 'finding', 'idle', 'key'] as const).some(
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

  private get panes() {
    return panesOf(this.input.tree, this.height, this.scroll);
  }

  /** Where the rows that scroll begin on the canvas. */
  get top(): number {
    return this.panes[1].top;
  }

  /** `y` of the canvas. */
  hitAt(x: number, y: number): Hit | null {
    if (y < HEAD) return null;
    const [pins, rest] = this.panes;
    const pane = y < rest.top ? pins : rest;
    const field = {
      rows: pane.rows,
      metrics: metricsOf(this.input.dense),
      span: this.span,
      width: this.width,
      dataOf: this.dataOf,
    };
    return hitAt(field, this.timeAt(x), y - pane.top + pane.scroll);
  }

  placeOf(track: number, depth: number) {
    return placeOf(this.input.tree.rows, metricsOf(this.input.dense), track, depth);
  }

  dataOf = (track: number): WindowData | null =>
    this.feed.best(this.input, track, this.span, this.width);

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

  private rowsOnScreen(pane: Pane, beyond: number) {
    return rowsBetween(pane.rows, pane.scroll - beyond, pane.scroll + pane.height + beyond);
  }

  private tracksOnScreen(beyond: number) {
    return this.panes
      .flatMap((pane) => this.rowsOnScreen(pane, beyond))
      .flatMap((row) => row.tracks);
  }

  private ask(): void {
    if (this.askTimer !== undefined) return;
    this.askTimer = setTimeout(() => {
      this.askTimer = undefined;
      if (this.width <= 0 || isHidden()) return;
      const tracks = this.tracksOnScreen(ABOVE).map((track) => track.id);
      this.feed.want(this.input, this.motion.goal(this.span), this.width, tracks);
    }, ASK_MS);
  }

  private settle(): void {
    clearTimeout(this.settleTimer);
    this.settleTimer = setTimeout(() => {
      if (this.motion.moving) return;
      this.ask();
      this.events.onSettle(this.span, itemsWithin(this.tracksOnScreen(0), this.dataOf, this.span));
    }, SETTLE_MS);
  }

  private scene(pane: Pane, beyond: number): Scene {
    const cache = new Map<number, WindowData | null>();
    return {
      rows: this.rowsOnScreen(pane, beyond),
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
      idle: this.input.idle,
      shiftOf: (part) => this.input.shifts.get(part) ?? 0,
      font: this.inks.font(this.input.dense),
    };
  }

  private render(now: number, zooming: boolean): void {
    const { input } = this;
    const ink = this.element.getContext('2d', { alpha: false });
    if (!ink) return;
    const ratio = ratioNow();
    sized(this.element, this.width, this.height, ratio);
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.fillStyle = this.inks.palette(input.dark).ground;
    ink.fillRect(0, 0, this.width, this.height);
    for (const pane of this.panes) {
      if (pane.height > 0) this.renderPane(ink, pane, now, zooming);
    }
    ink.font = this.inks.font(false);
    ink.textBaseline = 'middle';
    ink.textAlign = 'left';
    const scene = this.scene(this.panes[1], 0);
    const overview = this.feed.overview(input, this.width);
    drawHead(ink, scene, this.width, {
      ...input,
      span: this.span,
      overview,
      map: this.map,
    });
    if (this.box) drawZoomBox(ink, scene, this.box);
    this.events.onScroll(this.scroll);
  }

  private renderPane(
    ink: CanvasRenderingContext2D,
    pane: Pane,
    now: number,
    zooming: boolean,
  ): void {
    const { height, scroll } = pane;
    const view = { span: this.span, width: this.width, height, scroll };
    const picture = pane.pinned ? this.pins : this.picture;
    picture.prepare(view, () => this.scene(pane, ABOVE), this.revision, zooming, now);
    ink.save();
    ink.translate(0, pane.top);
    ink.beginPath();
    ink.rect(0, 0, this.width, height);
    ink.clip();
    picture.copy(ink, view);
    drawOver(ink, this.scene(pane, 0), view, pane, this.input, this.hover, this.pointer);
    ink.restore();
  }
}
