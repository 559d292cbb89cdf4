/**
 * The whole capture in a line. It is painted when its data or colours change; a frame of panning or
 * zooming is a copy of it, since filling thousands of slices again in each would cost more than the rows.
 */
import { itemAt, type WindowData } from '../../api/timelineWindow';
import type { TimelineTrack } from '../../api/types.gen';
import { fillOf, type Scene } from './paint';
import { ratioNow, sized } from './picture';
import type { Span } from './span';
import { pixelOf, Strips } from './strips';

export interface OverviewTrack {
  track: TimelineTrack;
  data: WindowData;
}

export class MapLine {
  private readonly canvas = document.createElement('canvas');
  private painted: readonly unknown[] = [];

  draw(
    ink: CanvasRenderingContext2D,
    scene: Scene,
    [top, width, height]: readonly [top: number, width: number, height: number],
    whole: Span,
    overview: readonly OverviewTrack[],
  ): void {
    const ratio = ratioNow();
    const { palette, colour } = scene;
    const now = [palette, colour, ratio, width, ...whole, ...overview.map((each) => each.data)];
    const same = now.length === this.painted.length;
    if (!same || now.some((each, at) => each !== this.painted[at])) {
      this.painted = now;
      this.paint(scene, [width, height], whole, overview, ratio);
    }
    ink.drawImage(this.canvas, 0, top, width, height);
  }

  private paint(
    scene: Scene,
    [width, height]: readonly [width: number, height: number],
    whole: Span,
    overview: readonly OverviewTrack[],
    ratio: number,
  ): void {
    sized(this.canvas, width, height, ratio);
    const ink = this.canvas.getContext('2d', { alpha: false });
    if (!ink) return;
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.fillStyle = scene.palette.ground;
    ink.fillRect(0, 0, width, height);
    const strips = new Strips(Math.round(width * ratio));
    strips.begin(0, height);
    const scale = strips.width / (whole[1] - whole[0] || 1);
    for (const { track, data } of overview) {
      const lane = data.lanes.get(track.id)?.find((each) => each.depth === 0);
      if (!lane) continue;
      const first = Math.max(lane.first, itemAt(data, lane, whole[0]));
      for (let i = first; i < lane.end; i++) {
        const x = (data.from + (data.start[i] as number) * data.tick - whole[0]) * scale;
        const end = x + (data.length[i] as number) * data.tick * scale;
        const left = Math.max(0, Math.round(x));
        const right = Math.max(left + 1, Math.round(end));
        if (left < strips.width) strips.fill(left, right, pixelOf(fillOf(scene, data, track, i)));
      }
    }
    strips.flush(ink, width);
  }
}
