/** Draws step curves: reserved as a ground, active dashed, allocated filled. */
import { corners } from '../lib/steps';
import { byteTicks, timeTicks } from '../lib/ticks';
import { AXIS, type Curve, type Frame, type Lane, LEFT, RIGHT, xOf, yOf } from './lanes';
import type { Pen } from './pen';

/** From the back to the front. */
const ORDER = ['reserved', 'active', 'allocated'];

export function drawLanes(pen: Pen, frame: Frame, lanes: readonly Lane[], moment: number | null) {
  const { context } = pen;
  drawTimes(pen, frame);
  lanes.forEach((lane, at) => {
    drawGround(pen, frame, at);
    const curves = [...lane.curves].sort(
      (a, b) => ORDER.indexOf(a.measure) - ORDER.indexOf(b.measure),
    );
    context.save();
    context.beginPath();
    context.rect(LEFT, at * frame.laneHeight, pen.width - LEFT - RIGHT, frame.laneHeight);
    context.clip();
    for (const curve of curves) drawCurve(pen, frame, at, curve);
    context.restore();
    if (lane.dot) drawDot(pen, frame, at, lane.dot);
  });
  if (moment !== null) drawMoment(pen, frame, moment);
}

function drawTimes({ context, colour, height, width }: Pen, frame: Frame): void {
  const wanted = Math.max(2, Math.min(10, Math.floor(width / 110)));
  context.textAlign = 'center';
  for (const tick of timeTicks(frame.from, frame.to, wanted)) {
    const x = Math.round(xOf(frame, tick.value)) + 0.5;
    context.fillStyle = colour('line');
    context.fillRect(x, 0, 1, height - AXIS + 4);
    context.fillStyle = colour('ink3');
    const half = context.measureText(tick.text).width / 2;
    context.fillText(tick.text, Math.min(x, width - half - 1), height - AXIS / 2 + 2);
  }
}

function drawGround({ context, colour, width }: Pen, frame: Frame, lane: number): void {
  const wanted = frame.laneHeight >= 150 ? 5 : frame.laneHeight >= 70 ? 3 : 2;
  context.textAlign = 'right';
  for (const tick of byteTicks(frame.top, wanted)) {
    const y = Math.round(yOf(frame, lane, tick.value)) + 0.5;
    context.fillStyle = colour(tick.value === 0 ? 'ink3' : 'line');
    context.fillRect(LEFT, y - 0.5, width - LEFT - RIGHT, 1);
    if (tick.value === 0 && frame.laneHeight < 70) continue;
    context.fillStyle = colour('ink3');
    context.fillText(tick.text, LEFT - 6, Math.max(6, y));
  }
}

function drawCurve(pen: Pen, frame: Frame, lane: number, curve: Curve): void {
  const { context, colour } = pen;
  const points = corners(
    curve,
    frame.from,
    frame.to,
    (time) => xOf(frame, time),
    (value) => yOf(frame, lane, value),
  );
  if (points.length === 0) return;
  const foot = yOf(frame, lane, 0);
  const path = new Path2D();
  for (let i = 0; i < points.length; i += 2) path.lineTo(points[i] ?? 0, points[i + 1] ?? 0);
  if (curve.measure !== 'active') {
    const area = new Path2D(path);
    area.lineTo(points[points.length - 2] ?? 0, foot);
    area.lineTo(points[0] ?? 0, foot);
    context.globalAlpha = curve.measure === 'allocated' ? 0.28 : 0.14;
    context.fillStyle = colour(curve.measure);
    context.fill(area);
    context.globalAlpha = 1;
  }
  context.setLineDash(curve.measure === 'active' ? [4, 3] : []);
  context.lineWidth = curve.measure === 'allocated' ? 1.5 : 1;
  context.strokeStyle = colour(curve.measure);
  context.stroke(path);
  context.setLineDash([]);
  context.lineWidth = 1;
}

function drawDot(pen: Pen, frame: Frame, lane: number, dot: NonNullable<Lane['dot']>): void {
  const { context, colour, width } = pen;
  if (dot.time < frame.from || dot.time > frame.to) return;
  const x = xOf(frame, dot.time);
  const y = yOf(frame, lane, dot.value);
  context.beginPath();
  context.arc(x, y, 3.5, 0, 2 * Math.PI);
  context.fillStyle = colour('panel');
  context.fill();
  context.lineWidth = 2;
  context.strokeStyle = colour('ink');
  context.stroke();
  context.lineWidth = 1;
  if (frame.laneHeight < 90) return;
  const right = x < width - 120;
  context.textAlign = right ? 'left' : 'right';
  context.fillStyle = colour('ink');
  context.fillText(dot.text, x + (right ? 8 : -8), Math.max(lane * frame.laneHeight + 7, y - 7));
}

/** A line across all lanes, named on the axis of time. */
function drawMoment(pen: Pen, frame: Frame, moment: number): void {
  if (moment < frame.from || moment > frame.to) return;
  const { context, colour, height } = pen;
  const x = Math.round(xOf(frame, moment));
  context.fillStyle = colour('accent');
  context.fillRect(x - 0.5, 0, 1, height - AXIS + 4);
  context.beginPath();
  context.moveTo(x - 5, height - AXIS + 8);
  context.lineTo(x + 5, height - AXIS + 8);
  context.lineTo(x, height - AXIS + 1);
  context.fill();
}
