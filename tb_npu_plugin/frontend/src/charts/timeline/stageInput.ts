/** What the stage is given to show, and whom it tells. */
import type { TimelineStep, TimelineTrack } from '../../api/types.gen';
import type { Arrow, Box, Marker } from './overlay';
import type { Tree } from './rows';
import type { Span } from './span';
import type { AskWindow } from './windows';

export interface StageInput {
  whole: Span;
  tree: Tree;
  dense: boolean;
  dark: boolean;
  colour: string;
  finding: boolean;
  idle: boolean;
  /** All that a window's answer depends on. */
  key: string;
  query: Readonly<Record<string, string>>;
  overviewQuery: Readonly<Record<string, string>>;
  version: string;
  baseNs: string | null;
  /** ns that the times of each rank are moved by. */
  shifts: ReadonlyMap<number, number>;
  steps: readonly TimelineStep[];
  /** Tracks that the whole is shown by. */
  overview: readonly TimelineTrack[];
  selected: Box | null;
  range: Span | null;
  markers: readonly Marker[];
  arrows: readonly Arrow[];
}

export interface StageEvents {
  ask: AskWindow;
  onError: (error: Error | null) => void;
  /** The span has come to rest. */
  onSettle: (span: Span, items: number) => void;
  onScroll: (scroll: number) => void;
  onLegend: (legend: readonly string[] | null) => void;
}
