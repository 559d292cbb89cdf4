/**
 * Step bars of many ranks, upright and side by side: 64 ranks fill the width, 1,024 still show which
 * one stands out. Drawn on a canvas; one hover line, and the keyboard moves it too.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { StepBar } from '../api/types.gen';
import { hideHover, showHover } from '../components/HoverCard';
import { t } from '../i18n';
import { openView } from '../state/route';
import { barPatch, barRows, barText, shortDuration } from './parts';
import { type Axis, axisFor, layBar, ticksFor } from './stepLayout';
import { columnAt, stripsFor } from './strips';
import { useTheme } from './useTheme';

const LEFT = 58;
const TOP = 6;
const BOTTOM = 20;

export function StepColumns({ bars }: { bars: readonly StepBar[] }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [at, setAt] = useState(-1);
  const theme = useTheme();

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setWidth(element.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // A new theme has new colours
  useEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, bars, width, at);
  }, [bars, width, at, theme]);

  const strips = stripsFor(bars.length, Math.max(1, width - LEFT));
  const find = (event: MouseEvent) => {
    const box = canvas.current?.getBoundingClientRect();
    if (!box) return -1;
    return columnAt(event.clientX - box.left - LEFT, event.clientY - box.top, bars.length, strips);
  };
  const hover = (event: PointerEvent) => {
    const index = find(event);
    setAt(index);
    const bar = bars[index];
    if (bar) showHover(event, { title: bar.label, rows: barRows(bar) });
    else hideHover();
  };
  const open = (index: number) => {
    const bar = bars[index];
    if (!bar) return;
    hideHover();
    openView('step', barPatch(bar));
  };
  const current = bars[at];
  return (
    <div class="columns-chart" ref={scroller}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${t.value.bars.chart(bars.length)}. ${t.value.bars.keys}`}
        style={`width:${width}px;height:${strips.height * strips.count}px`}
        onPointerMove={hover}
        onPointerLeave={() => {
          setAt(-1);
          hideHover();
        }}
        onClick={(event) => open(find(event))}
        onKeyDown={(event) => {
          const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
          if (step !== 0) setAt(Math.max(0, Math.min(bars.length - 1, at + step)));
          else if (event.key === 'Enter') open(at);
          else return;
          event.preventDefault();
        }}
      />
      <span class="sr-only" aria-live="polite">
        {current ? barText(current) : ''}
      </span>
    </div>
  );
}

/** Zero is the start of the stage: Preparing hangs below it. */
function draw(
  canvas: HTMLCanvasElement,
  bars: readonly StepBar[],
  width: number,
  marked: number,
): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const strips = stripsFor(bars.length, Math.max(1, width - LEFT));
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(strips.height * strips.count * ratio);
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  context.font = `11px ${style.fontFamily}`;
  context.textBaseline = 'middle';
  const pen: Pen = {
    context,
    colour: (name) => style.getPropertyValue(`--${name}`).trim(),
    axis: axisFor(bars),
    width,
    column: strips.column,
    height: strips.height,
  };
  for (let strip = 0; strip < strips.count; strip++) {
    const from = strip * strips.per;
    drawStrip(pen, bars.slice(from, from + strips.per), marked - from);
    context.translate(0, strips.height);
  }
}

interface Pen {
  context: CanvasRenderingContext2D;
  colour: (name: string) => string;
  axis: Axis;
  width: number;
  column: number;
  height: number;
}

function drawStrip(pen: Pen, bars: readonly StepBar[], marked: number): void {
  const { context, colour, axis, column } = pen;
  const room = pen.height - BOTTOM - TOP;
  const gap = column >= 6 ? 2 : column >= 4 ? 1 : 0;
  context.textAlign = 'right';
  for (const tick of ticksFor(axis, pen.height > 150 ? 4 : 2)) {
    const y = Math.round(TOP + room * (1 - tick.at)) + 0.5;
    context.fillStyle = colour('line');
    context.fillRect(LEFT, y, pen.width - LEFT, 1);
    context.fillStyle = colour('ink3');
    context.fillText(shortDuration(tick.value), LEFT - 6, y);
  }
  bars.forEach((bar, index) => {
    for (const segment of layBar(bar, axis).segments) {
      context.globalAlpha = segment.part === 'preparing' ? 0.6 : 1;
      context.fillStyle = colour(segment.part);
      const y = TOP + room * (1 - segment.at - segment.width);
      const height = Math.max(0.5, room * segment.width);
      context.fillRect(LEFT + index * column, y, column - gap, height);
    }
  });
  context.globalAlpha = 1;
  drawRanks(pen, bars);
  if (marked >= 0 && marked < bars.length) {
    context.strokeStyle = colour('ink');
    const wide = Math.max(column - gap, 1) + 1;
    context.strokeRect(LEFT + marked * column - 0.5, TOP - 2, wide, room + 4);
  }
}

/** As many rank numbers as fit, at round distances. */
function drawRanks({ context, colour, column, height }: Pen, bars: readonly StepBar[]): void {
  const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((n) => n * column >= 34) ?? 512;
  context.textAlign = 'center';
  context.fillStyle = colour('ink3');
  bars.forEach((bar, index) => {
    if (index % every !== 0) return;
    const label = bar.rank === null ? '?' : String(bar.rank);
    context.fillText(label, LEFT + (index + 0.5) * column, height - BOTTOM / 2);
  });
}
