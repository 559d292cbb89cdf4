/** The tracks: their names at the left, and the canvas that shows what is on them. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { getBytes } from '../../api/client';
import { Gestures } from '../../charts/timeline/gestures';
import { HEAD, MAP, markerAt, stepAt } from '../../charts/timeline/head';
import { panesOf } from '../../charts/timeline/pane';
import { rowsBetween } from '../../charts/timeline/rows';
import { around, kept, type Span } from '../../charts/timeline/span';
import { Stage } from '../../charts/timeline/stage';
import type { StageInput } from '../../charts/timeline/stageInput';
import type { AskWindow } from '../../charts/timeline/windows';
import { useTheme } from '../../charts/useTheme';
import { hideHover, showHover } from '../../components/HoverCard';
import { t } from '../../i18n';
import { waiting } from '../../state/asker';
import { selectionQuery } from '../../state/query';
import { navigate, params } from '../../state/route';
import { version } from '../../state/session';
import { clickedSlice, hoverOf } from './hover';
import { Corner, Labels } from './Labels';
import { parseSpan } from './link';
import { type Board, useSpanInLink, windowQuery } from './useBoard';
import { useKeys } from './useKeys';

interface Props {
  board: Board;
  boxing: boolean;
  onBoxed: () => void;
  onSettle: (span: Span, items: number) => void;
  onLegend: (legend: readonly string[] | null) => void;
  onError: (error: Error | null) => void;
  onKeys: () => void;
}

/** Rows of names that are there beyond the screen. */
const OVERSCAN = 300;
const SCROLL_MS = 300;

export function Canvas(props: Props) {
  const { board } = props;
  const { tree } = board;
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const names = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState(0);
  const [first, setFirst] = useState(0);
  const theme = useTheme();
  const writeSpan = useSpanInLink(board);
  const latest = useRef({ props, writeSpan, input: null as StageInput | null });
  const query = windowQuery(board);
  const selection = JSON.stringify(selectionQuery());
  const input: StageInput = {
    whole: board.whole,
    tree,
    dense: board.state.dense,
    dark: theme === 'dark',
    colour: board.colour,
    finding: params.value.find !== undefined,
    idle: board.idle,
    key: JSON.stringify([query, selection, version.value]),
    query: query as Record<string, string>,
    overviewQuery: query.shift ? { shift: query.shift } : {},
    version: `${version.value} ${selection}`,
    baseNs: params.value.clock === '1' ? board.data.base_ns : null,
    shifts: board.shifts,
    steps: board.steps,
    overview: board.overview,
    selected: board.selected,
    range: board.range,
    markers: board.markers,
    arrows: board.arrows,
  };
  latest.current = { props, writeSpan, input };
  const toReveal = useRef<string | null>(null);
  const { detail } = board;
  if (detail && detail.id === toReveal.current) {
    toReveal.current = null;
    board.wanted.current = { track: detail.track, depth: detail.depth };
  }
  const writeScroll = useWrittenScroll();
  const keys = useKeys(board, canvas, scroller, props.onKeys);

  useLayoutEffect(() => {
    const element = canvas.current;
    const box = scroller.current;
    if (!element || !box) return;
    const span = parseSpan(params.peek().w) ?? board.whole;
    const stage = new Stage(element, input, span, {
      ask: askWindow,
      onError: (error) => latest.current.props.onError(error),
      onLegend: (legend) => latest.current.props.onLegend(legend),
      onSettle: (settled, items) => {
        latest.current.writeSpan(settled);
        latest.current.props.onSettle(settled, items);
      },
      onScroll: (scroll) => {
        // With the canvas, in one frame: names and rows never part.
        if (names.current) names.current.style.transform = `translateY(${-scroll}px)`;
      },
    });
    board.stage.current = stage;
    const measure = () => {
      setHeight(box.clientHeight);
      stage.resize(element.clientWidth, element.clientHeight);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    observer.observe(element);
    measure();
    const { y, slice } = params.peek();
    if (y) box.scrollTop = Number(y) || 0;
    // A slice without a place on screen is brought there once it is known.
    else if (slice) toReveal.current = slice;
    return () => {
      observer.disconnect();
      stage.stop();
      board.stage.current = null;
    };
  }, []);

  useEffect(() => board.stage.current?.update(input));

  // A slice that was found may lie outside: scroll once its row is there
  useEffect(() => {
    const { current: wanted } = board.wanted;
    const place = wanted && board.stage.current?.placeOf(wanted.track, wanted.depth);
    const box = scroller.current;
    if (!place || !box || height === 0) return;
    board.wanted.current = null;
    scrollTo(box, head, place.top, place.height);
  });

  const gestures = useRef<Gestures | null>(null);
  useLayoutEffect(() => {
    const element = canvas.current;
    const { current: stage } = board.stage;
    const box = scroller.current;
    if (!element || !stage || !box) return;
    const here = () => latest.current.props.board;
    gestures.current = new Gestures(element, stage, {
      whole: () => here().whole,
      onScrollBy: (by) => {
        box.scrollTop += by;
      },
      onRange: (range, done) => {
        if (done) here().setRange(range);
        else stage.update({ ...(latest.current.input as StageInput), range });
      },
      onClick: (x, y) => click(here(), stage, x, y),
      onDouble: (x, y) => {
        const hit = stage.hitAt(x, y);
        const found = hit && clickedSlice(hit);
        const step = y > MAP && y < HEAD ? stepAt(here().steps, stage.timeAt(x)) : null;
        if (found) stage.show(around([found.box.start, found.box.end], here().whole));
        else if (step) stage.show(around([step.start, step.end], here().whole, 0.03));
        else if (y < HEAD) stage.show(here().whole);
      },
      onHover: (event, x, y) => {
        stage.pointer = stage.timeAt(x);
        const hit = stage.hitAt(x, y);
        const content = hit && hoverOf(here(), hit, stage.timeAt(x));
        stage.hover = (hit && clickedSlice(hit)?.box) ?? null;
        if (content) showHover(event, content);
        else hideHover();
        element.style.cursor = y < HEAD ? 'col-resize' : stage.hover ? 'pointer' : 'default';
        stage.draw();
      },
      onLeave: () => leave(stage),
      boxing: () => latest.current.props.boxing,
      onBoxed: () => latest.current.props.onBoxed(),
    });
    // Preact listens passively where the browser does; this one may prevent.
    const wheel = (event: WheelEvent) => gestures.current?.wheel(event);
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  }, []);

  const shown = rowsBetween(tree.rows, first - OVERSCAN, first + height + OVERSCAN);
  const [{ height: pins }, { top: head }] = panesOf(tree, height, 0);
  const words = t.value.timeline;
  return (
    <div
      class="tl-scroll"
      ref={scroller}
      tabIndex={-1}
      onScroll={(event) => {
        const top = event.currentTarget.scrollTop;
        board.stage.current?.scrollTo(top);
        writeScroll(top);
        if (Math.abs(top - first) > OVERSCAN / 2) setFirst(top);
      }}
    >
      <div class="tl-sticky" style={`height:${height}px`}>
        {/* First in the order of Tab, at the right on screen: there are many names. */}
        {/* biome-ignore lint/a11y/noInteractiveElementToNoninteractiveRole: it has keys of its own */}
        <canvas
          ref={canvas}
          class={`tl-canvas${props.boxing ? ' tl-boxing' : ''}`}
          tabIndex={0}
          role="application"
          aria-label={words.canvas(tree.left.length)}
          aria-describedby="tl-live"
          onPointerDown={(event) => {
            event.currentTarget.focus({ preventScroll: true });
            gestures.current?.down(event);
          }}
          onPointerMove={(event) => gestures.current?.move(event)}
          onPointerUp={(event) => gestures.current?.up(event)}
          onPointerCancel={() => gestures.current?.cancel()}
          onPointerLeave={() => board.stage.current && leave(board.stage.current)}
          onDblClick={(event) => gestures.current?.double(event)}
          onKeyDown={keys.down}
          onKeyUp={keys.up}
          onBlur={keys.blur}
        />
        <div class="tl-names">
          <Corner board={board} />
          {pins > 0 && (
            <div class="tl-pins" style={`height:${pins}px`}>
              <Labels board={board} rows={tree.pins} />
            </div>
          )}
          <div class="tl-names-body">
            <div
              ref={names}
              onFocusIn={(event) => {
                const name = (event.target as HTMLElement).closest<HTMLElement>('.tl-name');
                if (name && scroller.current) scrollTo(scroller.current, head, name.offsetTop, 24);
              }}
            >
              <Labels board={board} rows={shown} />
            </div>
          </div>
        </div>
      </div>
      <div style={`height:${Math.max(0, tree.height + head - height)}px`} />
      {tree.rows.length === 0 && <p class="quiet tl-none">{words.noTracks}</p>}
    </div>
  );
}

/** The place of the rows in the address, once scrolling pauses. */
function useWrittenScroll(): (top: number) => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (top) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => navigate({ y: top > 0 ? String(Math.round(top)) : null }, 'replace'),
      SCROLL_MS,
    );
  };
}

/** Brings a row into the middle, where it cannot be seen. */
function scrollTo(box: HTMLElement, head: number, top: number, height: number): void {
  const room = box.clientHeight - head;
  const inside = top >= box.scrollTop && top + height <= box.scrollTop + room;
  if (!inside) box.scrollTop = Math.max(0, top - room / 2);
}

/** Shown under the bar while it lasts, as every question is. */
async function askWindow(...[asked, signal]: Parameters<AskWindow>): Promise<ArrayBuffer> {
  waiting.value++;
  try {
    return await getBytes('timeline/window', { ...selectionQuery(), ...asked }, signal);
  } finally {
    waiting.value--;
  }
}

function leave(stage: Stage): void {
  hideHover();
  stage.pointer = null;
  stage.hover = null;
  stage.draw();
}

function click(board: Board, stage: Stage, x: number, y: number): void {
  if (y >= MAP && y < HEAD) {
    const marker = markerAt(board.markers, stage.span, stage.width, x);
    const at = marker === null ? null : board.markers[marker];
    const half = (stage.span[1] - stage.span[0]) / 2;
    if (at) stage.show(kept([at.time - half, at.time + half], board.whole));
    else board.setRange(null);
    return;
  }
  const hit = stage.hitAt(x, y);
  const found = hit && clickedSlice(hit);
  if (found) board.select(found.id, found.box);
  else board.select(null);
}
