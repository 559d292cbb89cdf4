/**
 * Bars of many ranks, upright and side by side: 64 ranks fill the width, 1,024 still show which one
 * stands out. Drawn on a canvas; one hover line, and the keyboard moves it too.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { hideHover, showHover } from '../components/HoverCard';
import { t } from '../i18n';
import { openView } from '../state/route';
import type { BarScale, DrawnBar } from './Bars';
import { type Pen, penFor } from './pen';
import { columnAt, type Strips, stripsFor } from './strips';
import { useTheme } from './useTheme';
import { useWidth } from './useWidth';

const LEFT = 58;
const TOP = 6;
const BOTTOM = 20;

interface Props {
  bars: readonly DrawnBar[];
  scale: BarScale;
  label: string;
}

export function BarColumns({ bars, scale, label }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useWidth();
  const [at, setAt] = useState(-1);
  const theme = useTheme();
  const strips = stripsFor(bars.length, Math.max(1, width - LEFT));

  // A new theme has new colours
  useEffect(() => {
    const pen =
      canvas.current && width > 0 && penFor(canvas.current, width, strips.height * strips.count);
    if (pen) draw(pen, bars, scale, strips, at);
  }, [bars, scale, width, at, theme]);

  const find = (event: MouseEvent) => {
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return -1;
    return columnAt(
      event.clientX - edge.left - LEFT,
      event.clientY - edge.top,
      bars.length,
      strips,
    );
  };
  const hover = (event: PointerEvent) => {
    const index = find(event);
    setAt(index);
    const bar = bars[index];
    if (bar) showHover(event, bar.hover);
    else hideHover();
  };
  const open = (index: number) => {
    const bar = bars[index];
    if (!bar) return;
    hideHover();
    openView(bar.view, bar.patch);
  };
  return (
    <div class="columns-chart" ref={box}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={`${label}. ${t.value.bars.keys}`}
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
        {bars[at]?.text ?? ''}
      </span>
    </div>
  );
}

/** Zero is the start of the stage: Preparing hangs below it. */
function draw(
  pen: Pen,
  bars: readonly DrawnBar[],
  scale: BarScale,
  strips: Strips,
  marked: number,
): void {
  for (let strip = 0; strip < strips.count; strip++) {
    const from = strip * strips.per;
    drawStrip(pen, bars.slice(from, from + strips.per), scale, strips, marked - from);
    pen.context.translate(0, strips.height);
  }
}

function drawStrip(
  pen: Pen,
  bars: readonly DrawnBar[],
  scale: BarScale,
  strips: Strips,
  marked: number,
): void {
  const { context, colour } = pen;
  const { column, height } = strips;
  const room = height - BOTTOM - TOP;
  const gap = column >= 6 ? 2 : column >= 4 ? 1 : 0;
  context.textAlign = 'right';
  for (const tick of scale.ticks(height > 150 ? 4 : 2)) {
    const y = Math.round(TOP + room * (1 - tick.at)) + 0.5;
    context.fillStyle = colour('line');
    context.fillRect(LEFT, y, pen.width - LEFT, 1);
    context.fillStyle = colour('ink3');
    context.fillText(tick.text, LEFT - 6, y);
  }
  bars.forEach((bar, index) => {
    for (const piece of bar.pieces) {
      context.globalAlpha = piece.part === 'preparing' ? 0.6 : 1;
      context.fillStyle = colour(piece.part);
      const y = TOP + room * (1 - piece.at - piece.width);
      const tall = Math.max(0.5, room * piece.width);
      context.fillRect(LEFT + index * column, y, column - gap, tall);
    }
  });
  context.globalAlpha = 1;
  drawNames(pen, bars, strips);
  if (marked >= 0 && marked < bars.length) {
    context.strokeStyle = colour('ink');
    const wide = Math.max(column - gap, 1) + 1;
    context.strokeRect(LEFT + marked * column - 0.5, TOP - 2, wide, room + 4);
  }
}

/** As many names as fit, at round distances. */
function drawNames(
  { context, colour }: Pen,
  bars: readonly DrawnBar[],
  { column, height }: Strips,
): void {
  const every = [1, 2, 4, 8, 16, 32, 64, 128, 256].find((n) => n * column >= 34) ?? 512;
  context.textAlign = 'center';
  context.fillStyle = colour('ink3');
  bars.forEach((bar, index) => {
    if (index % every !== 0) return;
    context.fillText(bar.short, LEFT + (index + 0.5) * column, height - BOTTOM / 2);
  });
}
