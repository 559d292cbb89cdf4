/** The shape both languages share: a missing or misspelt key does not compile. */
import type { Pages } from './pages.types';
import type { TimelineWords } from './timeline.types';

export type Sentence = string;
export type Count = (count: number) => Sentence;
/** Views that are one table. */
export type Tables =
  | 'step'
  | 'kernel'
  | 'operator'
  | 'api'
  | 'memory'
  | 'communication'
  | 'ranks'
  | 'slices'
  | 'files';
type Views =
  | 'overview'
  | 'step'
  | 'operator'
  | 'kernel'
  | 'api'
  | 'memory'
  | 'communication'
  | 'ranks'
  | 'timeline'
  | 'flame'
  | 'diff'
  | 'advice'
  | 'files'
  | 'health';

export interface Dictionary extends Pages, TimelineWords {
  product: Sentence;
  skipToContent: Sentence;
  reload: Sentence;
  retry: Sentence;
  copy: Sentence;
  copied: Sentence;
  copyFailed: Sentence;
  close: Sentence;
  groups: Record<'look' | 'compare' | 'understand' | 'capture', Sentence>;
  views: Record<Views, Sentence>;
  rail: Record<'collapse' | 'expand' | 'label', Sentence>;
  bar: Record<
    | 'view'
    | 'run'
    | 'recording'
    | 'rank'
    | 'device'
    | 'step'
    | 'share'
    | 'shareHint'
    | 'language'
    | 'languageHint'
    | 'newest',
    Sentence
  > & { findings: Count; findingsWord: Count; startedAt: (time: string) => Sentence };
  pick: Record<
    | 'search'
    | 'noMatch'
    | 'ranges'
    | 'rangesLabel'
    | 'apply'
    | 'allDevices'
    | 'allSteps'
    | 'outside'
    | 'unknownRank'
    | 'rankHint'
    | 'noSteps',
    Sentence
  > & {
    badRange: (at: number) => Sentence;
    notThere: (list: string) => Sentence;
    allRanks: Count;
    allOf: (found: number, world: number) => Sentence;
    manyRanks: Count;
    moreSteps: Count;
  };
  state: Record<
    | 'scanning'
    | 'scanningHint'
    | 'searched'
    | 'noCaptures'
    | 'noCapturesHint'
    | 'accepted'
    | 'record'
    | 'trySample'
    | 'tryServer'
    | 'readingNow'
    | 'ingestingHint'
    | 'partial'
    | 'partialHint'
    | 'growing'
    | 'growingHint'
    | 'failed'
    | 'failedHint'
    | 'emptyCapture'
    | 'gone'
    | 'goneHint'
    | 'error'
    | 'chunkHint'
    | 'notFound'
    | 'notFoundHint'
    | 'showNewest'
    | 'showAll'
    | 'reset'
    | 'openOverview',
    Sentence
  > & {
    layouts: [pattern: string, meaning: string][];
    reading: Count;
    unknownView: (view: string) => Sentence;
    of: (part: string, whole: string) => Sentence;
  };
  table: Record<
    | 'noneRecordedHint'
    | 'notCaptured'
    | 'notCapturedHint'
    | 'noMatch'
    | 'clearFilter'
    | 'filter'
    | 'filterLabel'
    | 'filterHelp'
    | 'groupBy'
    | 'columns'
    | 'columnSearch'
    | 'columnDefault'
    | 'csv'
    | 'csvHint'
    | 'keys'
    | 'sortHint'
    | 'detail'
    | 'copyRow'
    | 'copyValue'
    | 'filterBy'
    | 'outside'
    | 'unknownRank'
    | 'loading'
    | 'source',
    Sentence
  > & {
    /** What the rows are called, by view; `group` where they are grouped. */
    rows: Record<Tables | 'group' | 'link', Count>;
    noneRecorded: Record<Tables, Sentence>;
    ofRows: (count: number, all: number) => Sentence;
    /** By the names in `Table.groups`; a name without an entry is shown as it is. */
    groups: Record<string, Sentence>;
    showAll: Count;
    /** By the names in `Meta.sources`. */
    sources: Record<string, Sentence>;
  };
}
