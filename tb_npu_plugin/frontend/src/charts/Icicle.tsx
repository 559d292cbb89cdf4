/** A call tree on a canvas: hover tells of a call, a click looks into it, keys do all of it. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { FlameNodes } from '../api/types.gen';
import { type HoverContent, hideHover, showHover } from '../components/HoverCard';
import { type Box, boxAt, icicle, movedTo, type Order } from './icicleLayout';
import { type Pen, penFor } from './pen';
import { LEVELS, paletteFor } from './timeline/palette';
import { useTheme } from './useTheme';
import { useWidth } from './useWidth';

interface Props {
  nodes: FlameNodes;
  /** The call that fills the width; -1 is all of them. */
  zoom: number;
  order: Order;
  /** Nodes to stand out; null where nothing is looked for. */
  found: ReadonlySet<number> | null;
  label: string;
  describe: (node: number) => HoverContent;
  onZoom: (node: number) => void;
}

const ROW = 20;
/** A name needs so much room to begin. */
const NAME_WIDTH = 24;

export function Icicle(props: Props) {
  const { nodes, zoom, order, found, describe, onZoom } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useWidth();
  const theme = useTheme();
  const [at, setAt] = useState<Box | null>(null);
  const boxes = useMemo(() => icicle(nodes, zoom, width, order), [nodes, zoom, width, order]);
  const rows = boxes.reduce((most, each) => Math.max(most, each.row + 1), 1);

  // A new theme has new colours
  useEffect(() => {
    const pen = canvas.current && width > 0 && penFor(canvas.current, width, rows * ROW);
    if (pen) draw(pen, boxes, nodes, found, at, theme === 'dark');
  }, [boxes, found, at, theme, rows, width]);
  useEffect(() => setAt(null), [nodes, zoom]);

  const find = (event: MouseEvent) => {
    const edge = canvas.current?.getBoundingClientRect();
    if (!edge) return null;
    return boxAt(boxes, event.clientX - edge.left, Math.floor((event.clientY - edge.top) / ROW));
  };
  const leave = () => {
    setAt(null);
    hideHover();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      leave();
      onZoom(-1);
    } else if (event.key === 'Enter' && at) {
      onZoom(at.node);
    } else if (event.key.startsWith('Arrow')) {
      const next = movedTo(boxes, at, event.key);
      const edge = canvas.current?.getBoundingClientRect();
      if (next && edge) {
        setAt(next);
        const place = { clientX: edge.left + next.x + 8, clientY: edge.top + (next.row + 1) * ROW };
        showHover(place, describe(next.node));
      }
    } else return;
    event.preventDefault();
  };
  const said = useMemo(() => (at ? spoken(describe(at.node)) : ''), [at, describe]);
  return (
    <div class="icicle" ref={box}>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="img"
        aria-label={props.label}
        style={`width:${width}px;height:${rows * ROW}px`}
        onPointerMove={(event) => {
          const under = find(event);
          if (!under) return leave();
          setAt(under);
          showHover(event, describe(under.node));
        }}
        onPointerLeave={leave}
        onBlur={leave}
        onClick={(event) => {
          const under = find(event);
          if (under) onZoom(under.node === zoom ? (nodes.parent[under.node] ?? -1) : under.node);
        }}
        onKeyDown={onKeyDown}
      />
      <span class="sr-only" aria-live="polite">
        {said}
      </span>
    </div>
  );
}

function draw(
  { context, colour }: Pen,
  boxes: readonly Box[],
  nodes: FlameNodes,
  found: ReadonlySet<number> | null,
  at: Box | null,
  dark: boolean,
): void {
  const palette = paletteFor(dark, colour);
  for (const each of boxes) {
    const hue = nodes.hue[each.node] ?? 0;
    const out = found !== null && !found.has(each.node);
    const level = each.around ? 2 : LEVELS - 1;
    context.fillStyle =
      (out ? palette.dimmed[level] : palette.fills[hue * LEVELS + level]) ?? palette.ground;
    const gap = each.width > 3 ? 1 : 0;
    context.fillRect(each.x, each.row * ROW, Math.max(0.5, each.width - gap), ROW - 1);
    if (each.width < NAME_WIDTH) continue;
    context.save();
    context.beginPath();
    context.rect(each.x, each.row * ROW, each.width - 4, ROW - 1);
    context.clip();
    context.fillStyle = palette.ink;
    context.fillText(nodes.name[each.node] ?? '', each.x + 4, each.row * ROW + ROW / 2);
    context.restore();
  }
  if (!at) return;
  context.strokeStyle = colour('accent');
  context.lineWidth = 2;
  context.strokeRect(at.x + 1, at.row * ROW + 1, Math.max(1, at.width - 3), ROW - 3);
}

function spoken({ title, rows }: HoverContent): string {
  return [title, ...rows.map((row) => `${row.label} ${row.value}`)].join(', ');
}
