/** A rank's communication time as a bar: elapse = transit + wait + idle, what is missing at the end. */
import type { CommunicationRank } from '../../api/types.gen';
import type { Piece } from '../../charts/Bars';

export const PARTS = ['transit', 'synchronization', 'wait', 'idle', 'rest'] as const;
export type CommunicationPart = (typeof PARTS)[number];

/** The wait is drawn in two: what came before the first transit, and the other waiting. */
export function drawnNs(rank: CommunicationRank, part: CommunicationPart): number {
  const early = Math.min(rank.synchronization_ns ?? 0, rank.wait_ns ?? 0);
  const ns = {
    transit: rank.transit_ns,
    synchronization: early,
    wait: (rank.wait_ns ?? 0) - early,
    idle: rank.idle_ns,
    rest: rank.rest_ns,
  }[part];
  return Math.max(0, ns ?? 0);
}

export function lengthNs(rank: CommunicationRank): number {
  const parts = PARTS.reduce((sum, part) => sum + drawnNs(rank, part), 0);
  return Math.max(rank.elapse_ns ?? 0, parts);
}

export function piecesOf(rank: CommunicationRank, longest: number): Piece[] {
  let at = 0;
  return PARTS.flatMap((part) => {
    const width = drawnNs(rank, part) / longest;
    const left = at;
    at += width;
    return width > 0 ? [{ part, at: left, width }] : [];
  });
}
