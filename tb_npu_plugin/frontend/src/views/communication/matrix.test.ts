import { describe, expect, it } from 'vitest';
import type { MatrixRank, RankMatrix } from '../../api/types.gen';
import { cellFilter, cellPatch, drawnMatrix, measureOf } from './matrix';

const rank = (number: number): MatrixRank => ({
  label: `Rank ${number}`,
  rank: number,
  position: null,
  group: null,
  ranks: String(number),
});
const matrix: RankMatrix = {
  key: 'total',
  keys: [],
  ranks: [rank(0), rank(3)],
  size_bytes: [10, 20, null, 40],
  time_ns: [1, 2, null, 4],
  bandwidth_bytes_per_s: [null, 5, null, null],
  transport: [1, 0, -1, 1],
  transports: ['HCCS', 'LOCAL'],
  local_bandwidth_bytes_per_s: [50, 60],
  total_ranks: 2,
  total_keys: 1,
  note: '',
};

describe('the matrix', () => {
  it('leaves the copies on the chip out of values and scale', () => {
    expect(drawnMatrix(matrix, 'size', false)).toMatchObject({
      names: ['0', '3'],
      values: [null, 20, null, null],
      most: 20,
      breaks: [],
    });
  });

  it('shows them when asked, with their own bandwidth', () => {
    expect(drawnMatrix(matrix, 'bandwidth', true)).toMatchObject({
      values: [50, 5, null, 60],
      most: 60,
    });
  });

  it('keeps ranks and positions apart', () => {
    const local = { label: 'local 1 · g', rank: null, position: 1, group: 'g', ranks: null };
    const mixed = { ...matrix, ranks: [rank(0), local] };
    const drawn = drawnMatrix(mixed, 'time', true);
    expect([drawn.names, drawn.rowNames, drawn.breaks]).toEqual([['0', '(1)'], ['0', 'g'], [1]]);
    expect(cellFilter(mixed, 3)).toBe('src=1 dst=1 group_name="g"');
  });

  it('filters by what a cell sums up', () => {
    expect(cellFilter(matrix, 1)).toBe('src=0 dst=3');
    expect(cellFilter({ ...matrix, key: 'allreduce-top1@77' }, 1)).toBe(
      'src=0 dst=3 key="allreduce-top1" comm_group="77"',
    );
  });

  it('leads from a block to its ranks one by one', () => {
    const block = (ranks: string): MatrixRank => ({ ...rank(0), rank: null, ranks });
    const blocks = { ...matrix, ranks: [block('0-7'), block('8-15')] };
    expect(drawnMatrix(blocks, 'size', true).names).toEqual(['0-7', '8-15']);
    expect(cellPatch(blocks, 1)).toEqual({ rank: '0-7,8-15', filter: null, offset: null });
    expect(cellPatch(blocks, 0)).toEqual({ rank: '0-7', filter: null, offset: null });
    expect(cellPatch(matrix, 1)).toEqual({ filter: 'src=0 dst=3', offset: null });
  });

  it('starts with the bandwidth', () => {
    expect([measureOf(undefined), measureOf('time'), measureOf('x')]).toEqual([
      'bandwidth',
      'time',
      'bandwidth',
    ]);
  });
});
