/**
 * Tracks and slices are numbered within a selection, and times counted from its first event: when
 * other ranks are chosen, what the link says of them is put aside or counted anew. What came with
 * the new selection, by Back or through a door, was meant for it and stays.
 */
import { useEffect, useRef } from 'preact/hooks';
import type { Params } from '../../lib/hash';
import { navigate, type Patch, params, selection } from '../../state/route';
import { formatMarks, formatSpan, parseMarks, parseSpan } from './link';

const NUMBERED = ['slice', 'shift', 'pin', 'hide', 'move', 'fold', 'y'] as const;
const TIMES = ['w', 'range', 'marks'] as const;

export function useOtherSelection(base: string | null): void {
  const now = params.value;
  const selected = JSON.stringify(selection.value);
  const before = useRef({ selected, base, params: now, moves: false });
  // Effects run after the paint: Back may have been quicker, and then its render is to come.
  const stands = () => params.peek() === now;
  useEffect(() => {
    const last = before.current;
    if (last.selected === selected || !stands()) return;
    const left = (key: string) => now[key] !== undefined && now[key] === last.params[key];
    last.selected = selected;
    last.moves = TIMES.every((key) => now[key] === last.params[key]);
    navigate(Object.fromEntries(NUMBERED.filter(left).map((key) => [key, null])), 'replace');
    last.params = params.peek();
  });
  useEffect(() => {
    const last = before.current;
    if (base === null || last.base === base) return;
    if (last.moves && last.base !== null) {
      navigate(movedBy(params.peek(), Number(BigInt(last.base) - BigInt(base))), 'replace');
      last.moves = false;
    }
    last.base = base;
  }, [base]);
  // Last: the other effects compare with the render before.
  useEffect(() => {
    const last = before.current;
    if (last.selected === selected && stands()) last.params = now;
  });
}

/** The times of the link, `by` later. */
export function movedBy(now: Params, by: number): Patch {
  const span = (text: string | undefined) => {
    const parsed = parseSpan(text);
    return parsed && formatSpan([parsed[0] + by, parsed[1] + by]);
  };
  const marks = parseMarks(now.marks).map((mark) => ({ ...mark, time: mark.time + by }));
  return { w: span(now.w), range: span(now.range), marks: formatMarks(marks) };
}
