/**
 * Lanes as lines of pixels. Tens of thousands of slices of a pixel or two are slow to fill one by
 * one; written into a line each lane is a single copy, stretched to its height.
 */
import type { Ink } from './ink';

interface Line {
  y: number;
  height: number;
}

const scratch = document.createElement('canvas');
const LINES = 64;
const numbers = new Map<string, number>();

export class Strips {
  private pixels: Uint32Array<ArrayBuffer>;
  private readonly lines: Line[] = [];
  private offset = 0;

  /** `width` in pixels of the device. */
  constructor(readonly width: number) {
    this.pixels = new Uint32Array(width * LINES);
  }

  /** The next line: what `fill` writes goes there. */
  begin(y: number, height: number): void {
    this.offset = this.lines.length * this.width;
    this.lines.push({ y, height });
    if (this.offset + this.width <= this.pixels.length) return;
    const more = new Uint32Array(this.pixels.length * 2);
    more.set(this.pixels);
    this.pixels = more;
  }

  /** From `left` to `right`, whole pixels of the device. */
  fill(left: number, right: number, colour: number): void {
    const { offset, pixels } = this;
    if (right - left === 1) pixels[offset + left] = colour;
    else pixels.fill(colour, offset + left, offset + Math.min(right, this.width));
  }

  /** Onto the canvas, `width` of its own pixels wide. */
  flush(ink: Ink, width: number): void {
    const tall = this.lines.length;
    if (tall === 0) return;
    if (scratch.width !== this.width || scratch.height < tall) {
      scratch.width = this.width;
      scratch.height = Math.max(tall, LINES);
    }
    const pen = scratch.getContext('2d');
    if (!pen) return;
    const bytes = new Uint8ClampedArray(this.pixels.buffer, 0, this.width * tall * 4);
    pen.putImageData(new ImageData(bytes, this.width, tall), 0, 0);
    ink.imageSmoothingEnabled = false;
    this.lines.forEach(({ y, height }, line) => {
      ink.drawImage(scratch, 0, line, this.width, 1, 0, y, width, height);
    });
    ink.imageSmoothingEnabled = true;
  }
}

/** `#rrggbb` or `#rgb` as a pixel: the bytes are red, green, blue, opaque. */
export function pixelOf(colour: string): number {
  let value = numbers.get(colour);
  if (value === undefined) {
    const short = colour.length === 4;
    const long = short ? colour.replace(/[\da-f]/gi, '$&$&') : colour;
    const rgb = Number.parseInt(long.slice(1), 16);
    value = (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | (rgb >> 16)) >>> 0;
    numbers.set(colour, value);
  }
  return value;
}
