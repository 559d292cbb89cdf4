/** What the routes of the timeline answer. Times are ns after `base_ns`. */
import type { Meta, Table } from './types.gen';

export interface Timeline {
  /** null: nothing is there (yet). */
  base_ns: string | null;
  start: number;
  end: number;
  ranks: TimelineRank[];
  tracks: TimelineTrack[];
  kinds: { id: string; label: string }[];
  steps: TimelineStep[];
  total_ranks: number;
  note: string;
  alignments: TimelineAlignment[];
}

export interface TimelineReply {
  data: Timeline;
  meta: Meta;
}

/** One capture; `part` is its ordinal in the selection. */
export interface TimelineRank {
  part: number;
  rank: number | null;
  label: string;
  capture_id: string;
  start: number;
  end: number;
}

export interface TimelineTrack {
  id: number;
  part: number;
  kind: string;
  device: number | null;
  /** Heading that consecutive tracks share. */
  process: string;
  label: string;
  /** Rows of slices; 0 where it holds counters only. */
  depths: number;
  instants: boolean;
  slices: number;
  points: number;
  start: number;
  end: number;
  counters: TimelineCounter[];
}

export interface TimelineCounter {
  key: number;
  name: string;
  unit: string;
  least: number;
  most: number;
}

export interface TimelineStep {
  part: number;
  step: number | null;
  name: string;
  start: number;
  end: number;
}

export interface TimelineAlignment {
  id: string;
  label: string;
  /** By part, ns to add to its times; null where it is not known. */
  shifts: (number | null)[];
}

export interface SliceRef {
  id: string;
  track: number;
  depth: number;
  name: string;
  start: number;
  duration: number | null;
  where: string;
}

export interface SliceDetail {
  id: string;
  track: number;
  depth: number;
  rank: number | null;
  name: string;
  category: string;
  instant: boolean;
  start: number;
  duration: number | null;
  end: number;
  self: number | null;
  step: number | null;
  where: string;
  facts: { label: string; value: string }[];
  stack: string[];
  siblings: {
    count: number;
    total: number;
    mean: number;
    least: number;
    most: number;
    rank: number;
  };
  parent: SliceRef | null;
  flows: SliceFlow[];
  previous: SliceRef | null;
  next: SliceRef | null;
  same_previous: SliceRef | null;
  same_next: SliceRef | null;
  gap: { before: number | null; behind: string };
  doors: { view: string; label: string; filter: string }[];
}

export interface SliceFlow {
  kind: string;
  forward: boolean;
  to: SliceRef;
}

export interface SliceReply {
  data: SliceDetail;
  meta: Meta;
}

export interface TimelineFlow {
  kind: string;
  from_track: number;
  from_depth: number;
  from: number;
  to_track: number;
  to_depth: number;
  to: number;
}

export interface FlowsReply {
  data: { flows: TimelineFlow[]; total: number };
  meta: Meta;
}

export interface TimelineSearch {
  total: number;
  before: number;
  names: number;
  tracks: [track: number, count: number][];
  matches: SliceRef[];
  previous: SliceRef | null;
  next: SliceRef | null;
}

export interface SearchReply {
  data: TimelineSearch;
  meta: Meta;
}

export interface Occupancy {
  track: number;
  label: string;
  busy: number;
  share: number;
}

export interface SlicesReply {
  data: { table: Table; occupancy: Occupancy[]; span: number };
  meta: Meta;
}
