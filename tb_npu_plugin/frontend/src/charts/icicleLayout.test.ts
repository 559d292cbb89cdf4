import { describe, expect, it } from 'vitest';
import type { FlameNodes } from '../api/types.gen';
import { ancestors, boxAt, icicle, movedTo } from './icicleLayout';

/** train (100) -> forward (30, at 10), backward (60, at 50); backward -> matmul (20). */
const nodes: FlameNodes = {
  name: ['train', 'forward', 'backward', 'matmul', 'speck'],
  hue: [0, 1, 2, 3, 4],
  parent: [-1, 0, 0, 2, 0],
  depth: [0, 1, 1, 2, 1],
  total: [100, 30, 60, 20, 0.01],
  self: [10, 30, 40, 20, 0.01],
  count: [1, 2, 2, 4, 1],
  start: [0, 10, 50, 55, 90],
};

describe('icicle', () => {
  it('gives each call the width of its time, in time order or the heaviest first', () => {
    const timely = icicle(nodes, -1, 1000, 'time');
    const at = (node: number) => timely.find((box) => box.node === node);
    expect(at(0)).toMatchObject({ x: 0, width: 1000, row: 0 });
    expect(at(1)).toMatchObject({ x: 0, width: 300, row: 1 });
    expect(at(2)).toMatchObject({ x: 300, width: 600, row: 1 });
    expect(at(3)).toMatchObject({ x: 300, width: 200, row: 2 });
    expect(at(4), 'too narrow to be seen').toBeUndefined();
    expect(icicle(nodes, -1, 1000, 'heaviest').find((box) => box.node === 1)?.x).toBe(600);
  });

  it('lets a call fill the width, its callers above it', () => {
    const boxes = icicle(nodes, 2, 1000, 'time');
    expect(boxes.map((box) => [box.node, box.width, box.around])).toEqual([
      [0, 1000, true],
      [2, 1000, false],
      [3, expect.closeTo(333.33, 1), false],
    ]);
    expect(ancestors(nodes, 3)).toEqual([0, 2, 3]);
  });

  it('keeps calls that outlive their caller inside it', () => {
    const crossing = { ...nodes, total: [50, 30, 60, 20, 0] };
    const boxes = icicle(crossing, -1, 900, 'time');
    const ends = boxes.filter((box) => box.row === 1).map((box) => box.x + box.width);
    expect(Math.max(...ends)).toBeCloseTo(900);
  });

  it('is empty where nothing took time', () => {
    expect(icicle({ ...nodes, total: [0, 0, 0, 0, 0] }, -1, 900, 'time')).toEqual([]);
  });
});

describe('keys and pointer', () => {
  const boxes = icicle(nodes, -1, 1000, 'time');
  it('finds the call under the pointer', () => {
    expect(boxAt(boxes, 350, 1)?.node).toBe(2);
    expect(boxAt(boxes, 950, 1)).toBeNull();
  });
  it('moves between calls', () => {
    const root = movedTo(boxes, null, 'ArrowDown');
    expect(root?.node).toBe(0);
    const widest = movedTo(boxes, root, 'ArrowDown');
    expect(widest?.node).toBe(2);
    expect(movedTo(boxes, widest, 'ArrowLeft')?.node).toBe(1);
    expect(movedTo(boxes, widest, 'ArrowRight')).toBeNull();
    expect(movedTo(boxes, widest, 'ArrowUp')?.node).toBe(0);
  });
});
