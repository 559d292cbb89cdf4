/**
 * The canvas of the timeline: where it looks, what it asks for, when it draws. It draws only when
 * something changed, and not while nobody sees it. Rows are painted into a picture wider and
 * taller than the screen, so that a frame of panning is one copy of it.
 */

import type { WindowData } from '../../api/timelineWindow';
import type { TimelineStep, TimelineTrack } from '../../api/types.gen';
import { isHidden, onWake } from '../../state/host';
import { drawHead, HEAD } from './head';
import { Motion } from './motion';
import {
  type Arrow,
  type Box,
  drawArrows,
  drawBox,
  drawLine,
  drawRange,
  drawSticky,
  type Marker,
} from './overlay';
import { type Area, paintRows, type Scene } from './paint';
import { type Palette, paletteFor } from './palette';
import { type Hit, hitAt, placeOf } from './place';
import { metricsOf, rowsBetween, type Tree } from './rows';
import { kept, lengthOf, type Span, sameSpan, timeAt } from './span';
import { type AskWindow, Windows } from './windows';

export interface StageInput {
  whole: Span;
  tree: Tree;
  dense: boolean;
  dark: boolean;
  colour: string;
  finding: boolean;
  /** All that a window's answer depends on. */
  key: string;
  query: Readonly<Record<string, string>>;
  overviewQuery: Readonly<Record<string, string>>;
  version: string;
  baseNs: string | null;
  steps: readonly TimelineStep[];
  /** Tracks that the whole is shown by. */
  overview: readonly TimelineTrack[];
  selected: Box | null;
  range: Span | null;
  markers: readonly Marker[];
  arrows: readonly Arrow[];
}

export interface StageEvents {
  ask: AskWindow;
  onError: (error: Error | null) => void;
  /** The span has come to rest. */
  onSettle: (span: Span, items: number) => void;
  onScroll: (scroll: number) => void;
  onLegend: (legend: readonly string[] | null) => void;
}

const ASK_MS = 40;
const SETTLE_MS = 250;
const HISTORY = 100;
/** A picture reaches this far beyond the screen: share of the width, and pixels. */
const ASIDE = 0.5;
const ABOVE = 240;
/** While zooming, a picture that takes longer is stretched instead. */
const SLOW_MS = 9;
const STRETCHED_MS = 70;
const FONT = (dense: boolean, family: string) => `${dense ? 9 : 11}px ${family}`;

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
  private readonly history: Span[] = [];
  private readonly picture = document.createElement('canvas');
  private area: Area | null = null;
  private painted = { revision: -1, cost: 0, at: 0 };
  private revision = 0;
  private frame = 0;
  private askTimer: ReturnType<typeof setTimeout> | undefined;
  private settleTimer: ReturnType<typeof setTimeout> | undefined;
  private remembered = 0;
  private palette: Palette | null = null;
  private tokens = new Map<string, string>();
  private family = 'sans-serif';
  private readonly stopWake: () => void;

  constructor(
    readonly element: HTMLCanvasElement,
    private input: StageInput,
    span: Span,
    private readonly events: StageEvents,
  ) {
    this.span = kept(span, input.whole);
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
    this.stopWake = onWake(() => this.draw());
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
    if (before.dark !== input.dark) this.palette = null;
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

  /** Before a movement begins: small ones that follow each other are one step back. */
  remember(): void {
    const now = performance.now();
    const last = this.history[this.history.length - 1];
    if (now - this.remembered > 600 && !(last && sameSpan(last, this.span))) {
      this.history.push(this.span);
      if (this.history.length > HISTORY) this.history.shift();
    }
    this.remembered = now;
  }

  undo(): void {
    let last = this.history.pop();
    while (last && sameSpan(last, this.motion.goal(this.span))) last = this.history.pop();
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
      this.events.onSettle(this.span, this.itemsOnScreen());
    }, SETTLE_MS);
  }

  private itemsOnScreen(): number {
    let items = 0;
    for (const track of new Set(this.rowsOnScreen(0).flatMap((row) => row.tracks))) {
      const data = this.dataOf(track.id);
      if (!data) continue;
      const first = (this.span[0] - data.from) / data.tick;
      const last = (this.span[1] - data.from) / data.tick;
      for (const lane of data.lanes.get(track.id) ?? []) {
        for (let i = lane.first; i < lane.end; i++) {
          const start = data.start[i] as number;
          if (start > last) break;
          if (start + (data.length[i] as number) >= first) items += data.count[i] as number;
        }
      }
    }
    return items;
  }

  private token = (name: string): string => {
    let value = this.tokens.get(name);
    if (value === undefined) {
      value = getComputedStyle(this.element).getPropertyValue(`--${name}`).trim();
      this.tokens.set(name, value);
    }
    return value;
  };

  private scene(above: number): Scene {
    if (!this.palette) {
      this.tokens.clear();
      this.family = getComputedStyle(this.element).fontFamily || 'sans-serif';
      this.palette = paletteFor(this.input.dark, this.token);
    }
    const cache = new Map<number, WindowData | null>();
    return {
      rows: this.rowsOnScreen(above),
      metrics: metricsOf(this.input.dense),
      dense: this.input.dense,
      palette: this.palette,
      token: this.token,
      dataOf: (track) => {
        if (!cache.has(track)) cache.set(track, this.dataOf(track));
        return cache.get(track) ?? null;
      },
      colour: this.input.colour,
      finding: this.input.finding,
      font: FONT(this.input.dense, this.family),
    };
  }

  private fits(body: number): boolean {
    const { area } = this;
    if (!area || this.painted.revision !== this.revision) return false;
    if (area.ratio !== ratioNow()) return false;
    const same = Math.abs(
      area.width / lengthOf(area.span) / (this.width / lengthOf(this.span)) - 1,
    );
    return (
      same < 1e-9 &&
      area.span[0] <= this.span[0] &&
      area.span[1] >= this.span[1] &&
      area.top <= this.scroll &&
      area.top + area.height >= this.scroll + body
    );
  }

  private paint(body: number, aside: number, now: number): void {
    const ratio = ratioNow();
    const length = lengthOf(this.span);
    const top = Math.max(0, this.scroll - ABOVE);
    const area: Area = {
      span: [this.span[0] - length * aside, this.span[1] + length * aside],
      width: this.width * (1 + 2 * aside),
      top,
      height: this.scroll + body + ABOVE - top,
      ratio,
    };
    const { picture } = this;
    const wide = Math.round(area.width * ratio);
    const tall = Math.round(area.height * ratio);
    if (picture.width !== wide || picture.height !== tall) {
      picture.width = wide;
      picture.height = tall;
    }
    const ink = picture.getContext('2d', { alpha: false });
    if (!ink) return;
    const begun = performance.now();
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    paintRows(ink, this.scene(ABOVE), area);
    this.area = area;
    this.painted = { revision: this.revision, cost: performance.now() - begun, at: now };
  }

  private render(now: number, zooming: boolean): void {
    const body = this.height - HEAD;
    if (!this.fits(body)) {
      const stretch =
        zooming &&
        this.area !== null &&
        this.painted.cost > SLOW_MS &&
        now - this.painted.at < STRETCHED_MS &&
        this.painted.revision === this.revision;
      if (!stretch) this.paint(body, zooming ? 0 : ASIDE, now);
    }
    const ink = this.element.getContext('2d', { alpha: false });
    if (!ink || !this.area) return;
    const ratio = ratioNow();
    const wide = Math.round(this.width * ratio);
    const tall = Math.round(this.height * ratio);
    if (this.element.width !== wide || this.element.height !== tall) {
      this.element.width = wide;
      this.element.height = tall;
    }
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    const scene = this.scene(0);
    ink.fillStyle = scene.palette.ground;
    ink.fillRect(0, 0, this.width, this.height);
    this.copy(ink);
    this.over(ink, scene, body);
  }

  private copy(ink: CanvasRenderingContext2D): void {
    const { area } = this;
    if (!area) return;
    const scale = this.width / lengthOf(this.span);
    const x = (area.span[0] - this.span[0]) * scale;
    const width = lengthOf(area.span) * scale;
    // Whole pixels of the device: a copy between them is blurred.
    const at = Math.round(x * area.ratio) / area.ratio;
    ink.drawImage(this.picture, at, HEAD + area.top - this.scroll, width, area.height);
  }

  private over(ink: CanvasRenderingContext2D, scene: Scene, body: number): void {
    const { input } = this;
    const { rows } = input.tree;
    const screen = { span: this.span, width: this.width, height: body, scroll: this.scroll };
    ink.save();
    ink.translate(0, HEAD);
    ink.beginPath();
    ink.rect(0, 0, this.width, body);
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
    ink.font = FONT(false, this.family);
    ink.textBaseline = 'middle';
    ink.textAlign = 'left';
    const overview = input.overview.flatMap((track) => {
      const data = this.overview.best(track.id, input.whole, this.width, this.overviewKey());
      return data ? [{ track, data }] : [];
    });
    drawHead(ink, scene, this.width, { ...input, span: this.span, overview });
    if (this.box) {
      const [x0, y0, x1, y1] = this.box;
      ink.strokeStyle = scene.token('accent');
      ink.fillStyle = scene.token('accent');
      ink.globalAlpha = 0.12;
      ink.fillRect(x0, y0, x1 - x0, y1 - y0);
      ink.globalAlpha = 1;
      ink.strokeRect(x0 + 0.5, y0 + 0.5, x1 - x0, y1 - y0);
    }
    this.events.onScroll(this.scroll);
  }
}

const ratioNow = () => window.devicePixelRatio || 1;
