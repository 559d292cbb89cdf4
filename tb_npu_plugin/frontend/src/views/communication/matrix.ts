/** The matrix as it is drawn: one measure of it, with or without the copies on the chip. */
import type { MatrixRank, RankMatrix } from '../../api/types.gen';
import { inQuotes } from '../../components/table/filter';
import { elide, visible } from '../../lib/text';

export const MEASURES = ['bandwidth', 'size', 'time'] as const;
export type MatrixMeasure = (typeof MEASURES)[number];

export function measureOf(show: string | undefined): MatrixMeasure {
  return MEASURES.find((measure) => measure === show) ?? 'bandwidth';
}

const LOCAL = 'LOCAL';
/** Characters of a group's name beside its first row. */
const GROUP_NAME = 12;

export function isLocal(matrix: RankMatrix, cell: number): boolean {
  return matrix.transports[matrix.transport[cell] ?? -1] === LOCAL;
}

export function cellValue(matrix: RankMatrix, measure: MatrixMeasure, cell: number): number | null {
  if (measure === 'size') return matrix.size_bytes[cell] ?? null;
  if (measure === 'time') return matrix.time_ns[cell] ?? null;
  const own = isLocal(matrix, cell)
    ? matrix.local_bandwidth_bytes_per_s[Math.floor(cell / matrix.ranks.length)]
    : matrix.bandwidth_bytes_per_s[cell];
  return own ?? null;
}

export interface DrawnMatrix {
  names: string[];
  rowNames: string[];
  values: (number | null)[];
  most: number;
  breaks: number[];
}

export function drawnMatrix(
  matrix: RankMatrix,
  measure: MatrixMeasure,
  local: boolean,
): DrawnMatrix {
  const { ranks } = matrix;
  let most = 0;
  const values = matrix.transport.map((_, cell) => {
    if (!local && isLocal(matrix, cell)) return null;
    const value = cellValue(matrix, measure, cell);
    most = Math.max(most, value ?? 0);
    return value;
  });
  const breaks = ranks.flatMap((rank, at) =>
    at > 0 && rank.group !== ranks[at - 1]?.group ? [at] : [],
  );
  const rowNames = ranks.map((rank, at) =>
    rank.group !== null && rank.group !== ranks[at - 1]?.group
      ? elide(visible(rank.group), GROUP_NAME)
      : shortName(rank),
  );
  return { names: ranks.map(shortName), rowNames, values, most, breaks };
}

/** A rank by its number; a position in a group, of which no more is known, in brackets. */
export function shortName({ rank, position, label, ranks }: MatrixRank): string {
  if (rank !== null) return String(rank);
  if (position === null && ranks) return ranks;
  return position === null ? label : `(${position})`;
}

/** Several ranks in a row: there is more to see of a cell than its links. */
export function isBlock({ rank, position }: MatrixRank): boolean {
  return rank === null && position === null;
}

/** Where a cell leads: to the ranks of a block one by one, or to the links of two ranks. */
export function cellPatch(matrix: RankMatrix, cell: number) {
  const n = matrix.ranks.length;
  const src = matrix.ranks[Math.floor(cell / n)];
  const dst = matrix.ranks[cell % n];
  if (!src || !isBlock(src)) return { filter: cellFilter(matrix, cell), offset: null };
  const ranks = [...new Set([src.ranks, dst?.ranks])].filter(Boolean).join(',');
  return { rank: ranks, filter: null, offset: null };
}

/** The filter that keeps the rows behind a cell. */
export function cellFilter(matrix: RankMatrix, cell: number): string {
  const n = matrix.ranks.length;
  const src = matrix.ranks[Math.floor(cell / n)];
  const dst = matrix.ranks[cell % n];
  if (!src || !dst) return '';
  const [base = '', group] = matrix.key.split('@');
  return [
    `src=${src.rank ?? src.position}`,
    `dst=${dst.rank ?? dst.position}`,
    src.group === null ? '' : `group_name=${inQuotes(src.group)}`,
    base === 'total' || base === '' ? '' : `key=${inQuotes(base)}`,
    group ? `comm_group=${inQuotes(group)}` : '',
  ]
    .filter(Boolean)
    .join(' ');
}
