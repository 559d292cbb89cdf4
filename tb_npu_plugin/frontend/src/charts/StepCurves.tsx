/**
 * Step curves over time, a lane each, to scale. The pointer reads values off, drags a span to zoom
 * into and clicks a moment; the keyboard can do all of it.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Door } from '../components/Door';
import { hideHover, showHover } from '../components/HoverCard';
import { formatTime } from '../lib/format';
import { neighbour } from '../lib/steps';
import { visible } from '../lib/text';
import { drawLanes } from './drawLanes';
import {
  AXIS,
  type Describe,
  type Frame,
  type Lane,
  LEFT,
  laneAt,
  laneHeight,
  RIGHT,
  timeAt,
  xOf,
  zoomed,
} from './lanes';
import { penFor } from './pen';
import { useTheme } from './useTheme';
import { useWidth } from './useWidth';

type Span = readonly [from: number, to: number];

interface Props {
  lanes: readonly Lane[];
  /** Where the labels lead. */
  view: string;
  span: Span;
  /** All there is, to zoom out to. */
  whole: Span;
  top: number;
  /** A moment of all lanes. */
  moment: number | null;
  /** What the figure at the end of a lane is. */
  figure: string;
  label: string;
  keys: string;
  labelHint: (label: string) => string;
  describe: Describe;
  onPick: (time: number) => void;
  onSpan: (from: number, to: number) => void;
  onWhole: () => void;
}

interface Cursor {
  lane: number;
  time: number;
}

/** A shorter drag is a click with an unsteady hand. */
const LEAST_DRAG = 5;
/** A click waits for the second one that would make it a double click. */
const DOUBLE_MS = 230;

export function StepCurves(props: Props) {
  const { lanes, span, top, moment, describe } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useWidth();
  const theme = useTheme();
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const [drag, setDrag] = useState<[number, number] | null>(null);
  const pending = useRef<ReturnType<typeof setTimeout>>(undefined);
  const tall = laneHeight(lanes.length);
  const height = tall * lanes.length + AXIS;
  const [from, to] = span;
  const frame: Frame = { width, laneHeight: tall, lanes: lanes.length, from, to, top };

  // A new theme has new colours
  useEffect(() => {
    const pen = canvas.current && width > 0 && penFor(canvas.current, width, height);
    if (pen) drawLanes(pen, frame, lanes, moment);
  }, [lanes, from, to, top, moment, width, height, theme]);
  useEffect(() => () => clearTimeout(pending.current), []);

  const place = (event: PointerEvent) => {
    const edge = canvas.current?.getBoundingClientRect();
    return { x: event.clientX - (edge?.left ?? 0), y: event.clientY - (edge?.top ?? 0) };
  };
  const leave = () => {
    setCursor(null);
    hideHover();
  };
  const move = (event: PointerEvent) => {
    const { x, y } = place(event);
    if (drag) setDrag([drag[0], Math.min(width - RIGHT, Math.max(LEFT, x))]);
    if (!drag && (x < LEFT || y > height - AXIS)) return leave();
    const next = { lane: laneAt(frame, y), time: timeAt(frame, x) };
    setCursor(next);
    const lane = lanes[next.lane];
    if (lane) showHover(event, describe(lane, next.time));
  };
  const release = () => {
    if (!drag) return;
    const [a, b] = drag;
    setDrag(null);
    clearTimeout(pending.current);
    if (Math.abs(a - b) >= LEAST_DRAG) {
      const ends = [timeAt(frame, a), timeAt(frame, b)].sort((one, other) => one - other);
      props.onSpan(Math.round(ends[0] ?? from), Math.round(ends[1] ?? to));
    } else {
      const time = Math.round(timeAt(frame, a));
      pending.current = setTimeout(() => props.onPick(time), DOUBLE_MS);
    }
  };

  /** The keyboard's cursor: shown where the pointer would be. */
  const show = (next: Cursor) => {
    setCursor(next);
    const lane = lanes[next.lane];
    const edge = canvas.current?.getBoundingClientRect();
    if (!lane || !edge) return;
    const clientY = edge.top + (next.lane + 0.5) * tall;
    showHover({ clientX: edge.left + xOf(frame, next.time), clientY }, describe(lane, next.time));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const now = cursor ?? { lane: 0, time: lanes[0]?.dot?.time ?? (from + to) / 2 };
    const lane = lanes[now.lane];
    const step = (direction: 1 | -1) => {
      const times = lane?.curves.flatMap((curve) => neighbour(curve.times, now.time, direction));
      const near = (times ?? []).filter((time): time is number => time !== null);
      const next = direction > 0 ? Math.min(...near) : Math.max(...near);
      show({ ...now, time: near.length > 0 ? Math.min(to, Math.max(from, next)) : now.time });
    };
    const other = (by: number) =>
      show({ ...now, lane: Math.min(lanes.length - 1, Math.max(0, now.lane + by)) });
    const acts: Record<string, () => void> = {
      ArrowRight: () => step(1),
      ArrowLeft: () => step(-1),
      ArrowDown: () => other(1),
      ArrowUp: () => other(-1),
      Home: () => show({ ...now, time: from }),
      End: () => show({ ...now, time: to }),
      Enter: () => props.onPick(Math.round(now.time)),
      '+': () => props.onSpan(...zoomed(span, props.whole, now.time, 0.5)),
      '=': () => props.onSpan(...zoomed(span, props.whole, now.time, 0.5)),
      '-': () => props.onSpan(...zoomed(span, props.whole, now.time, 2)),
      '0': props.onWhole,
      Escape: leave,
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };

  const under = cursor ? lanes[cursor.lane] : undefined;
  return (
    <div class={`lanes${lanes.length === 1 ? ' lanes-one' : ''}`}>
      <div class="lane-labels">
        {lanes.map((lane) => (
          <div key={lane.key} style={`height:${tall}px`}>
            {lane.patch ? (
              <Door
                view={props.view}
                patch={lane.patch}
                title={props.labelHint(visible(lane.label))}
              >
                <bdi>{visible(lane.label)}</bdi>
              </Door>
            ) : (
              <bdi>{visible(lane.label)}</bdi>
            )}
          </div>
        ))}
      </div>
      <div class="lane-plot" ref={box}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="slider"
          aria-label={props.label}
          aria-description={props.keys}
          aria-valuemin={from / 1e6}
          aria-valuemax={to / 1e6}
          aria-valuenow={(cursor?.time ?? moment ?? from) / 1e6}
          aria-valuetext={
            cursor && under ? spoken(describe(under, cursor.time)) : formatTime(moment)
          }
          style={`width:${width}px;height:${height}px`}
          onPointerMove={move}
          onPointerLeave={leave}
          onPointerDown={(event) => {
            const { x, y } = place(event);
            if (event.button !== 0 || x < LEFT || y > height - AXIS) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            setDrag([x, x]);
          }}
          onPointerUp={release}
          onPointerCancel={() => setDrag(null)}
          onDblClick={() => {
            clearTimeout(pending.current);
            props.onWhole();
          }}
          onKeyDown={onKeyDown}
          onBlur={leave}
        />
        {cursor && !drag && (
          <i
            class="lane-cursor"
            style={`left:${xOf(frame, cursor.time)}px;height:${height - AXIS}px`}
          />
        )}
        {drag && (
          <i
            class="lane-drag"
            style={`left:${Math.min(...drag)}px;width:${Math.abs(drag[0] - drag[1])}px;height:${height - AXIS}px`}
          />
        )}
      </div>
      <div class="lane-figures">
        {lanes.map((lane) => (
          <div key={lane.key} style={`height:${tall}px`}>
            {lane.figure}
          </div>
        ))}
        <p class="lane-caption">{props.figure}</p>
      </div>
    </div>
  );
}

function spoken({ title, rows }: ReturnType<Describe>): string {
  return [title, ...rows.map((row) => `${row.label} ${row.value}`)].join(', ');
}
