/** The state of the timeline as it stands in the link. */
import type { Marker } from '../../charts/timeline/overlay';
import type { TreeState } from '../../charts/timeline/rows';
import type { Span } from '../../charts/timeline/span';
import type { Params } from '../../lib/hash';
import { formatRanges, parseRanges } from '../../lib/ranges';
import type { Patch } from '../../state/route';

/** `12-345`; either end may lie before the first event. */
export function parseSpan(text: string | undefined): Span | null {
  const match = /^(-?\d+(?:\.\d+)?)-(-?\d+(?:\.\d+)?)$/.exec(text ?? '');
  if (!match) return null;
  const [from, to] = [Number(match[1]), Number(match[2])];
  return to > from ? [from, to] : null;
}

export const formatSpan = ([from, to]: Span) => `${Math.round(from)}-${Math.round(to)}`;

/** One of those that there are. */
export function colourOf(params: Params, colours: readonly { id: string }[]): string {
  return colours.find((each) => each.id === params.colour)?.id ?? 'name';
}

export function treeState(params: Params): TreeState {
  const numbers = (text: string | undefined) => parseRanges(text ?? '').values;
  return {
    toggled: new Set((params.fold ?? '').split(',').filter(Boolean)),
    pinned: numbers(params.pin),
    hidden: new Set(numbers(params.hide)),
    moves: (params.move ?? '').split(',').flatMap((text) => {
      const match = /^(\d+):(\d*)$/.exec(text);
      return match ? [[Number(match[1]), match[2] ? Number(match[2]) : -1] as const] : [];
    }),
    filter: params.tracks ?? '',
    dense: params.dense === '1',
  };
}

export function treePatch(state: TreeState): Patch {
  return {
    fold: [...state.toggled].join(','),
    pin: formatRanges(state.pinned),
    hide: formatRanges([...state.hidden]),
    move: state.moves.map(([track, before]) => `${track}:${before < 0 ? '' : before}`).join(','),
    tracks: state.filter,
    dense: state.dense ? '1' : null,
  };
}

/** `time:note;time:note`, with `:`, `;` and `\` of a note escaped. */
export function parseMarks(text: string | undefined): Marker[] {
  return (text ?? '').split(/(?<!\\);/).flatMap((part) => {
    const match = /^(-?\d+):?(.*)$/s.exec(part);
    return match
      ? [{ time: Number(match[1]), note: (match[2] ?? '').replace(/\\(.)/gs, '$1') }]
      : [];
  });
}

export function formatMarks(marks: readonly Marker[]): string {
  return [...marks]
    .sort((a, b) => a.time - b.time)
    .map(({ time, note }) => `${Math.round(time)}:${note.replace(/[\\;]/g, '\\$&')}`)
    .join(';');
}

/** ns to add to the times of single ranks, as typed in. */
export function parseShifts(text: string | undefined): ReadonlyMap<number, number> {
  return new Map(
    (text ?? '').split(',').flatMap((part) => {
      const match = /^(\d+):(-?\d+)$/.exec(part);
      return match ? [[Number(match[1]), Number(match[2])] as const] : [];
    }),
  );
}

export function formatShifts(shifts: ReadonlyMap<number, number>): string {
  return [...shifts]
    .filter(([, ns]) => Math.round(ns) !== 0)
    .map(([part, ns]) => `${part}:${Math.round(ns)}`)
    .join(',');
}
