/** The words of the timeline: what both languages must have. */
import type { Count, Sentence } from './types';

export interface TimelineWords {
  timeline: Record<
    | 'filterTracks'
    | 'noTracks'
    | 'search'
    | 'searchLabel'
    | 'next'
    | 'previous'
    | 'noMatch'
    | 'colour'
    | 'align'
    | 'unaligned'
    | 'offset'
    | 'offsetHint'
    | 'offsetReset'
    | 'step'
    | 'steps'
    | 'whole'
    | 'undo'
    | 'box'
    | 'boxHint'
    | 'marks'
    | 'addMark'
    | 'marksHint'
    | 'note'
    | 'remove'
    | 'go'
    | 'more'
    | 'arrows'
    | 'idle'
    | 'clock'
    | 'dense'
    | 'png'
    | 'trace'
    | 'traceHint'
    | 'original'
    | 'originalHint'
    | 'foldAll'
    | 'openAll'
    | 'keys'
    | 'track'
    | 'pin'
    | 'unpin'
    | 'hide'
    | 'only'
    | 'up'
    | 'down'
    | 'fold'
    | 'open'
    | 'nothing'
    | 'nothingHint'
    | 'stillReading'
    | 'stillReadingHint'
    | 'noSlice'
    | 'noSliceHint'
    | 'resize'
    | 'unknown'
    | 'longest',
    Sentence
  > & {
    hidden: Count;
    slices: Count;
    matchOf: (at: number, all: number) => Sentence;
    mergedOf: Count;
    arrowsOf: (shown: number, all: number) => Sentence;
    canvas: Count;
    tracks: Count;
    view: (from: string, to: string) => Sentence;
    selected: (name: string, duration: string, where: string) => Sentence;
    marked: (time: string) => Sentence;
    shiftOf: (time: string) => Sentence;
    acts: Record<
      | 'zoom'
      | 'pan'
      | 'fit'
      | 'whole'
      | 'undo'
      | 'steps'
      | 'neighbours'
      | 'nesting'
      | 'details'
      | 'range'
      | 'marker'
      | 'gaps'
      | 'search'
      | 'clear'
      | 'keys',
      Sentence
    >;
    pointer: readonly (readonly [gesture: Sentence, act: Sentence])[];
  };
  slice: Record<
    | 'details'
    | 'track'
    | 'start'
    | 'duration'
    | 'self'
    | 'step'
    | 'category'
    | 'instant'
    | 'gap'
    | 'parent'
    | 'sameName'
    | 'samePrevious'
    | 'sameNext'
    | 'total'
    | 'mean'
    | 'least'
    | 'most'
    | 'arrows'
    | 'leads'
    | 'comes'
    | 'stack'
    | 'elsewhere'
    | 'fit'
    | 'find'
    | 'noneBefore',
    Sentence
  > & {
    /** The place by duration of those of its name. */
    place: (rank: number, count: number) => Sentence;
    outside: Sentence;
  };
  range: Record<
    'slices' | 'title' | 'occupancy' | 'occupancyHint' | 'fit' | 'inTimeline',
    Sentence
  >;
}
