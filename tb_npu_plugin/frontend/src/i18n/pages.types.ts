/** The words of single pages: what both languages must have. */
import type { Count, Sentence } from './types';

export interface Pages {
  overview: Record<
    'bars' | 'first' | 'nothingYet' | 'noFindings' | 'kernels' | 'allKernels' | 'facts' | 'noBars',
    Sentence
  > & { cardOf: (ratio: string, of: string) => Sentence };
  bars: Record<
    | 'preparing'
    | 'computing'
    | 'overlapped'
    | 'communication'
    | 'free'
    | 'bubble'
    | 'unknown'
    | 'stage'
    | 'keys'
    | 'time'
    | 'share'
    | 'scale'
    | 'column',
    Sentence
  > & {
    open: (label: string) => Sentence;
    steps: Count;
    clipped: (value: string) => Sentence;
    chart: Count;
  };
  health: Record<
    | 'fine'
    | 'fineHint'
    | 'error'
    | 'warning'
    | 'info'
    | 'errors'
    | 'warnings'
    | 'infos'
    | 'fewer'
    | 'capabilities'
    | 'available'
    | 'partial'
    | 'missing'
    | 'reading'
    | 'none',
    Sentence
  > & { alike: Count };
  files: Record<'settings' | 'noSettings' | 'others' | 'all', Sentence>;
  operator: Record<'stacks' | 'noStacks' | 'device', Sentence> & { calls: Count; allStacks: Count };
  memory: Record<
    | 'curves'
    | 'component'
    | 'measures'
    | 'reserved'
    | 'active'
    | 'allocated'
    | 'reservedHint'
    | 'activeHint'
    | 'allocatedHint'
    | 'whole'
    | 'gestures'
    | 'keys'
    | 'coarse'
    | 'noCurves'
    | 'peak'
    | 'peaks'
    | 'at'
    | 'begin'
    | 'end'
    | 'backToPeak'
    | 'unseen'
    | 'unnamed'
    | 'total'
    | 'seen'
    | 'states'
    | 'blocksThen'
    | 'operator'
    | 'size'
    | 'allocatedAt'
    | 'releasedAt',
    Sentence
  > & {
    chart: Count;
    shownOf: (shown: number, all: number) => Sentence;
    onlyRank: (rank: string) => Sentence;
    alivePeak: (component: string) => Sentence;
    aliveAt: (time: string) => Sentence;
    aliveThen: (time: string) => Sentence;
    others: Count;
    blocks: Count;
    heldMost: (rank: string) => Sentence;
    largest: (rank: string) => Sentence;
  };
  communication: Record<
    | 'peak'
    | 'peakHint'
    | 'pages'
    | 'summary'
    | 'matrix'
    | 'times'
    | 'transit'
    | 'wait'
    | 'synchronization'
    | 'otherWait'
    | 'idle'
    | 'rest'
    | 'elapse'
    | 'links'
    | 'size'
    | 'time'
    | 'bandwidth'
    | 'sdmaHint'
    | 'operations'
    | 'measure'
    | 'local'
    | 'localHint'
    | 'from'
    | 'to'
    | 'transport'
    | 'noLink'
    | 'keys'
    | 'clickHint'
    | 'noMatrix',
    Sentence
  > & {
    chart: Count;
    open: (label: string) => Sentence;
    incomplete: Count;
    unused: (links: string) => Sentence;
    shownOf: (shown: number, all: number) => Sentence;
    heatMap: (measure: string, count: number) => Sentence;
    moreKeys: (shown: number, all: number) => Sentence;
  };
  flame: Record<
    | 'by'
    | 'order'
    | 'time'
    | 'heaviest'
    | 'find'
    | 'findLabel'
    | 'total'
    | 'self'
    | 'calls'
    | 'share'
    | 'ofParent'
    | 'keys'
    | 'all'
    | 'wholeRange'
    | 'empty',
    Sentence
  > & {
    chart: (calls: number) => Sentence;
    range: (from: string, to: string) => Sentence;
    found: (count: number) => Sentence;
  };
  ranks: Record<
    | 'suspects'
    | 'reading'
    | 'deviation'
    | 'deviationHint'
    | 'form'
    | 'map'
    | 'distribution'
    | 'steps'
    | 'chooseMeasure'
    | 'lines'
    | 'spread'
    | 'dotHint'
    | 'stepsHint'
    | 'shown'
    | 'allMeasures'
    | 'shape'
    | 'shapeHint'
    | 'below'
    | 'above'
    | 'median'
    | 'least'
    | 'most'
    | 'score'
    | 'keys',
    Sentence
  > & {
    chart: (ranks: number, columns: number) => Sentence;
    groupsChart: (groups: number, columns: number) => Sentence;
    shownOf: (shown: number, all: number) => Sentence;
    perStep: (measure: string) => Sentence;
    ofStep: (step: string) => Sentence;
    more: (count: number) => Sentence;
  };
  setting: Record<'unknown' | 'set' | 'asTold', Sentence>;
}
