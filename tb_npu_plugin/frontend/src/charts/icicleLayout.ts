/** Where the calls of a tree stand: callers above, what they call below, as wide as their time. */
import type { FlameNodes } from '../api/types.gen';

export interface Box {
  node: number;
  x: number;
  width: number;
  row: number;
  /** Around the call that is looked into: drawn over the whole width. */
  around: boolean;
}

export type Order = 'time' | 'heaviest';

/** Narrower calls cannot be seen, nor what they call. */
const LEAST = 0.4;

/** The boxes from the top, callers first. `zoom`: the call that fills the width; -1 is all of them. */
export function icicle(
  nodes: FlameNodes,
  zoom: number,
  width: number,
  order: Order,
): readonly Box[] {
  const children = childrenOf(nodes, order);
  const above = ancestors(nodes, zoom);
  const boxes: Box[] = above.map((node, row) => ({
    node,
    x: 0,
    width,
    row,
    around: node !== zoom,
  }));
  const top = above.length;
  const inside = children.get(zoom) ?? [];
  const whole =
    zoom >= 0 ? (nodes.total[zoom] ?? 0) : inside.reduce((sum, at) => sum + totalOf(nodes, at), 0);
  if (!(whole > 0)) return boxes;
  const waiting: { of: readonly number[]; x: number; row: number; scale: number }[] = [
    { of: inside, x: 0, row: top, scale: width / whole },
  ];
  for (let group = waiting.pop(); group; group = waiting.pop()) {
    let { x } = group;
    // Calls that outlive their caller may pass its end: they share what room there is.
    for (const node of group.of) {
      const wide = totalOf(nodes, node) * group.scale;
      if (wide >= LEAST) {
        boxes.push({ node, x, width: wide, row: group.row, around: false });
        const below = children.get(node);
        if (below) {
          const sum = below.reduce((all, at) => all + totalOf(nodes, at), 0);
          const scale = Math.min(group.scale, sum > 0 ? wide / sum : group.scale);
          waiting.push({ of: below, x, row: group.row + 1, scale });
        }
      }
      x += wide;
    }
  }
  return boxes;
}

const totalOf = (nodes: FlameNodes, node: number) => nodes.total[node] ?? 0;

/** Caller -> what it calls, in order; -1 has the outermost. */
function childrenOf(nodes: FlameNodes, order: Order): Map<number, number[]> {
  const found = new Map<number, number[]>();
  nodes.parent.forEach((parent, node) => {
    const list = found.get(parent);
    if (list) list.push(node);
    else found.set(parent, [node]);
  });
  const start = (node: number) => nodes.start[node] ?? 0;
  for (const list of found.values()) {
    list.sort((a, b) =>
      order === 'time' ? start(a) - start(b) : totalOf(nodes, b) - totalOf(nodes, a),
    );
  }
  return found;
}

/** From the outermost caller to `node` itself. */
export function ancestors(nodes: FlameNodes, node: number): readonly number[] {
  const found: number[] = [];
  for (let at = node; at >= 0; at = nodes.parent[at] ?? -1) found.unshift(at);
  return found;
}

export function boxAt(boxes: readonly Box[], x: number, row: number): Box | null {
  return boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width) ?? null;
}

/** The box that a key moves to: up to the caller, down to the widest call, sideways to a neighbour. */
export function movedTo(boxes: readonly Box[], from: Box | null, key: string): Box | null {
  if (!from) return boxes[0] ?? null;
  const middle = from.x + from.width / 2;
  const inRow = (row: number) => boxes.filter((box) => box.row === row);
  if (key === 'ArrowUp') {
    return inRow(from.row - 1).find((box) => box.x <= middle && middle < box.x + box.width) ?? null;
  }
  if (key === 'ArrowDown') {
    const below = inRow(from.row + 1).filter(
      (box) => box.x >= from.x - 0.01 && box.x < from.x + from.width,
    );
    return below.reduce<Box | null>(
      (best, box) => (!best || box.width > best.width ? box : best),
      null,
    );
  }
  const row = inRow(from.row).sort((a, b) => a.x - b.x);
  const at = row.findIndex((box) => box.node === from.node);
  return row[key === 'ArrowLeft' ? at - 1 : at + 1] ?? null;
}
