// Generated from tb_npu_plugin/backend/results.py by scripts/types.mjs. Do not edit.
export interface Schema {
  CapturesReply: CapturesReply;
  Captures: Captures;
  RunInfo: RunInfo;
  RecordingInfo: RecordingInfo;
  CaptureInfo: CaptureInfo;
  Meta: Meta;
  Selection: Selection;
  Finding: Finding;
  ProgressReply: ProgressReply;
  Progress: Progress;
  Job: Job;
  OverviewReply: OverviewReply;
  Overview: Overview;
  Card: Card;
  StepBar: StepBar;
  Fact: Fact;
  Table: Table;
  Column: Column;
  StepReply: StepReply;
  Step: Step;
  KernelReply: KernelReply;
  Kernel: Kernel;
  OperatorReply: OperatorReply;
  Operator: Operator;
  ApiReply: ApiReply;
  Api: Api;
  HealthReply: HealthReply;
  Health: Health;
  Capability: Capability;
  CapabilityCase: CapabilityCase;
  FilesReply: FilesReply;
  Files: Files;
  MemoryReply: MemoryReply;
  Memory: Memory;
  MemorySeries: MemorySeries;
  MemoryPeak: MemoryPeak;
  MemoryAlive: MemoryAlive;
  MemoryHolder: MemoryHolder;
  MemoryBlock: MemoryBlock;
  MemoryState: MemoryState;
  CommunicationReply: CommunicationReply;
  Communication: Communication;
  CommunicationRank: CommunicationRank;
  LinkTraffic: LinkTraffic;
  RankMatrix: RankMatrix;
  MatrixKey: MatrixKey;
  MatrixRank: MatrixRank;
  RanksReply: RanksReply;
  Ranks: Ranks;
  Suspect: Suspect;
  RankGrid: RankGrid;
  RankName: RankName;
  RankMeasure: RankMeasure;
  RankChoice: RankChoice;
  ErrorReply: ErrorReply;
  ErrorBody: ErrorBody;
  TimelineReply: TimelineReply;
  Timeline: Timeline;
  TimelineRank: TimelineRank;
  TimelineTrack: TimelineTrack;
  CounterSeries: CounterSeries;
  Choice: Choice;
  TimelineStep: TimelineStep;
  Alignment: Alignment;
  SliceReply: SliceReply;
  SliceDetail: SliceDetail;
  SliceFact: SliceFact;
  Siblings: Siblings;
  SliceRef: SliceRef;
  SliceFlow: SliceFlow;
  SliceGap: SliceGap;
  SliceDoor: SliceDoor;
  FlowsReply: FlowsReply;
  Flows: Flows;
  TimelineFlow: TimelineFlow;
  SearchReply: SearchReply;
  Search: Search;
  TrackMatches: TrackMatches;
  SlicesReply: SlicesReply;
  Slices: Slices;
  Occupancy: Occupancy;
  FlameReply: FlameReply;
  Flame: Flame;
  FlameNodes: FlameNodes;
}
export interface CapturesReply {
  data: Captures;
  meta: Meta;
}
export interface Captures {
  runs: RunInfo[];
  scanning: boolean;
  searched: string[];
  version: number;
}
export interface RunInfo {
  run: string;
  recordings: RecordingInfo[];
}
export interface RecordingInfo {
  recording: string;
  label: string;
  started_ns: string | null;
  ranks: (number | null)[];
  world_size: number | null;
  devices: number[];
  steps: number[];
  outside_steps: boolean;
  captures: CaptureInfo[];
}
export interface CaptureInfo {
  capture_id: string;
  name: string;
  path: string;
  worker: string;
  rank: number | null;
  devices: number[];
  state: 'empty' | 'failed' | 'growing' | 'ingesting' | 'partial' | 'ready';
  progress: number;
  level: string | null;
  bytes: number;
  label: string;
}
export interface Meta {
  selection: Selection | null;
  provenance: {
    [k: string]: string;
  };
  sources: string[];
  findings: Finding[];
  counts: {
    [k: string]: number;
  };
  state: 'empty' | 'failed' | 'growing' | 'ingesting' | 'partial' | 'ready';
  progress: number;
  step_picker: string | null;
  schema: number;
}
/**
 * What a reply is about, after defaults were filled in.
 */
export interface Selection {
  run: string;
  recording: string;
  ranks: (number | null)[];
  devices: number[] | null;
  step: string;
  source: string;
}
/**
 * Something missing, broken or suspicious, and what to do about it.
 *
 * What several captures share to the word is one finding: ``ranks`` lists them, and ``rank`` and
 * ``capture_id`` are those of the first.
 */
export interface Finding {
  id: string;
  code: string;
  severity: 'error' | 'info' | 'warning';
  message: string;
  remedy: string;
  capture_id: string | null;
  rank: number | null;
  ranks: (number | null)[];
  file: string | null;
  place: string | null;
  views: string[];
}
export interface ProgressReply {
  data: Progress;
  meta: Meta;
}
export interface Progress {
  version: number;
  state: 'idle' | 'ingesting' | 'scanning';
  progress: number;
  jobs: Job[];
}
/**
 * A file that is being read. ``label``: its capture, as in :class:`CaptureInfo`.
 */
export interface Job {
  capture_id: string;
  label: string;
  file: string;
  bytes: number;
  progress: number;
}
export interface OverviewReply {
  data: Overview;
  meta: Meta;
}
export interface Overview {
  headline: string;
  cards: Card[];
  bars: StepBar[];
  bars_note: string;
  facts: Fact[];
  lines: Fact[];
  top_kernels: Table | null;
  findings: Finding[];
}
/**
 * One headline figure. ``ratio`` is the share of ``of``.
 */
export interface Card {
  key: string;
  label: string;
  value_ns: number | null;
  ratio: number | null;
  of: string;
  note: string;
  concept: string | null;
}
/**
 * Where the time of one bar went, ns; segments before the stage first, in drawing order.
 *
 * They add up: communication leaves out its receive part, which is the bubble. The stage leaves
 * out the bubble too, so the segments after preparing sum to stage + bubble.
 *
 * ``label`` names the bar. An unknown part is ``None``.
 */
export interface StepBar {
  label: string;
  rank: number | null;
  device: number | null;
  steps: number;
  preparing_ns: number | null;
  computing_only_ns: number | null;
  overlapped_ns: number | null;
  communication_not_overlapped_ns: number | null;
  free_ns: number | null;
  bubble_ns: number | null;
  stage_ns: number | null;
}
/**
 * One labelled fact, e.g. ``profiler level: Level1``.
 */
export interface Fact {
  key: string;
  label: string;
  value: string;
  note: string;
}
/**
 * One page of a table, by columns: ``values[column.key][i]`` is row ``offset + i``.
 *
 * Only shown columns have values. ``total`` counts the rows after the filter,
 * ``unfiltered`` those before it. ``base_ns`` is the origin of the ``time`` columns.
 */
export interface Table {
  columns: Column[];
  values: {
    [k: string]: unknown[];
  };
  total: number;
  unfiltered: number;
  offset: number;
  sort: string;
  group: string;
  groups: string[];
  base_ns: string | null;
}
/**
 * One column of a table. ``group`` names the concept whose colour the column wears, if any.
 */
export interface Column {
  key: string;
  label: string;
  kind:
    | 'bytes'
    | 'core'
    | 'device'
    | 'duration'
    | 'frequency'
    | 'id'
    | 'int'
    | 'name'
    | 'number'
    | 'rank'
    | 'rate'
    | 'ratio'
    | 'shape'
    | 'step'
    | 'text'
    | 'time';
  description: string;
  shown: boolean;
  sortable: boolean;
  concept: string | null;
}
export interface StepReply {
  data: Step;
  meta: Meta;
}
export interface Step {
  bars: StepBar[];
  table: Table;
}
export interface KernelReply {
  data: Kernel;
  meta: Meta;
}
export interface Kernel {
  table: Table;
  note: string;
}
export interface OperatorReply {
  data: Operator;
  meta: Meta;
}
export interface Operator {
  table: Table;
  note: string;
}
export interface ApiReply {
  data: Api;
  meta: Meta;
}
export interface Api {
  table: Table;
  note: string;
}
export interface HealthReply {
  data: Health;
  meta: Meta;
}
export interface Health {
  findings: Finding[];
  capabilities: Capability[];
}
/**
 * One thing that a view can show, merged over the selected captures: ``partial`` where they differ.
 *
 * ``cases``: the captures by what holds for them, the poorest first.
 */
export interface Capability {
  key: string;
  view: string;
  label: string;
  status: 'available' | 'missing' | 'none' | 'partial' | 'reading';
  cases: CapabilityCase[];
}
/**
 * What holds for some captures alike. ``where``: file or table that is, or would be, the source.
 */
export interface CapabilityCase {
  status: 'available' | 'missing' | 'none' | 'partial' | 'reading';
  where: string;
  reason: string;
  remedy: string;
  ranks: (number | null)[];
  capture_ids: string[];
}
export interface FilesReply {
  data: Files;
  meta: Meta;
}
/**
 * ``table``: the files, or the rows of ``file``. ``others``: files that can be shown like that.
 */
export interface Files {
  table: Table;
  settings: Fact[];
  file: string;
  others: string[];
}
export interface MemoryReply {
  data: Memory;
  meta: Meta;
}
export interface Memory {
  note: string;
  base_ns: string | null;
  components: string[];
  component: string;
  ranks_shown: number;
  ranks_total: number;
  points: number;
  series: MemorySeries[];
  peaks: MemoryPeak[];
  alive: MemoryAlive[];
  states: MemoryState[];
  table: Table;
}
/**
 * One total of one component over time: a step function, to be drawn to scale in time.
 *
 * ``values[i]`` bytes hold from ``times_ns[i]`` to the next. Instants ascend; where two are equal,
 * the last one holds.
 */
export interface MemorySeries {
  rank: number | null;
  capture: string;
  device: number | null;
  component: string;
  measure: 'active' | 'allocated' | 'reserved';
  times_ns: number[];
  values: number[];
  rows: number;
  exact: boolean;
}
/**
 * The highest totals of one component of one device, each with its first moment.
 *
 * ``start`` and ``end`` are the totals allocated when the curve begins and ends.
 */
export interface MemoryPeak {
  rank: number | null;
  capture: string;
  device: number | null;
  component: string;
  reserved_bytes: number | null;
  reserved_at_ns: number | null;
  allocated_bytes: number | null;
  allocated_at_ns: number | null;
  active_bytes: number | null;
  active_at_ns: number | null;
  start_bytes: number | null;
  end_bytes: number | null;
  rows: number;
}
/**
 * What one component of one device held at one moment: its allocated peak, or ``at``.
 *
 * ``total_bytes`` = ``seen_bytes`` (blocks whose allocation or release was recorded)
 * + ``unseen_bytes`` (allocated before the capture began, or not seen).
 */
export interface MemoryAlive {
  rank: number | null;
  capture: string;
  device: number | null;
  component: string;
  at_ns: number;
  at_peak: boolean;
  total_bytes: number | null;
  reserved_bytes: number | null;
  seen_bytes: number;
  seen_count: number;
  unseen_bytes: number | null;
  operators: MemoryHolder[];
  operator_count: number;
  blocks: MemoryBlock[];
}
/**
 * What one operator held at a moment. ``name`` is None for blocks without one.
 */
export interface MemoryHolder {
  name: string | null;
  count: number;
  size_bytes: number;
}
/**
 * One block alive at a moment. ``row`` is its row in the allocations (group "").
 */
export interface MemoryBlock {
  name: string | null;
  size_bytes: number;
  alloc_ns: number | null;
  release_ns: number | null;
  state: 'before' | 'held' | 'released' | 'unknown' | 'zero';
  row: number;
}
/**
 * How many blocks of the selection ended in a state; filter the table by ``state=<key>``.
 */
export interface MemoryState {
  key: 'before' | 'held' | 'released' | 'unknown' | 'zero';
  label: string;
  count: number;
  size_bytes: number;
}
export interface CommunicationReply {
  data: Communication;
  meta: Meta;
}
export interface Communication {
  note: string;
  ranks: CommunicationRank[];
  total_ranks: number;
  table: Table;
  matrix: RankMatrix | null;
  peaks: string;
}
/**
 * Sums over the operations of one capture: ``elapse = transit + wait + idle + rest``.
 *
 * The times cover the operations whose parts are all known; ``incomplete`` are left out of them.
 */
export interface CommunicationRank {
  rank: number | null;
  label: string;
  operations: number;
  incomplete: number;
  elapse_ns: number | null;
  transit_ns: number | null;
  wait_ns: number | null;
  idle_ns: number | null;
  rest_ns: number | null;
  synchronization_ns: number | null;
  transit_of_elapse_ratio: number | null;
  wait_of_elapse_ratio: number | null;
  idle_of_elapse_ratio: number | null;
  wait_ratio: number | null;
  synchronization_ratio: number | null;
  size_bytes: number | null;
  not_overlapped_ns: number | null;
  links: LinkTraffic[];
}
/**
 * What went over one link type. ``time_ns`` is over all planes, not a part of the elapse.
 */
export interface LinkTraffic {
  link: string;
  size_bytes: number | null;
  time_ns: number | null;
  bandwidth_bytes_per_s: number | null;
  large_packet_ratio: number | null;
  packets: number | null;
  sum_of_others: boolean;
}
/**
 * Rank to rank, dense: cell ``src * len(ranks) + dst`` of each array; ``None``: no such link.
 */
export interface RankMatrix {
  key: string;
  keys: MatrixKey[];
  ranks: MatrixRank[];
  size_bytes: (number | null)[];
  time_ns: (number | null)[];
  bandwidth_bytes_per_s: (number | null)[];
  transport: number[];
  transports: string[];
  local_bandwidth_bytes_per_s: (number | null)[];
  total_ranks: number;
  total_keys: number;
  note: string;
}
/**
 * One choice of rows for the heat map (parameter ``key``).
 */
export interface MatrixKey {
  key: string;
  label: string;
}
/**
 * One row and column of the matrix. ``rank`` is None where only the position is known.
 */
export interface MatrixRank {
  label: string;
  rank: number | null;
  position: number | null;
  group: string | null;
  ranks: string | null;
}
export interface RanksReply {
  data: Ranks;
  meta: Meta;
}
export interface Ranks {
  note: string;
  shape: string;
  suspects: Suspect[];
  verdict: string;
  grid: RankGrid;
  table: Table;
}
/**
 * A rank or link that holds the others up, and what that rests on.
 */
export interface Suspect {
  severity: 'error' | 'info' | 'warning';
  rank: number | null;
  label: string;
  headline: string;
  evidence: string[];
  view: string;
  group: string;
  filter: string;
}
/**
 * Ranks, or groups of them with their means, by measures, in the order of the table's sort.
 */
export interface RankGrid {
  ranks: RankName[];
  measures: RankMeasure[];
  total_ranks: number;
  group: string;
  measure: string;
  choices: RankChoice[];
}
/**
 * One row of the comparison: a rank, or a group of them.
 */
export interface RankName {
  label: string;
  rank: number | null;
  capture_id: string;
  ranks: string;
}
/**
 * One column of the comparison, with a value and a score per row of :class:`RankGrid`.
 */
export interface RankMeasure {
  key: string;
  label: string;
  kind:
    | 'bytes'
    | 'core'
    | 'device'
    | 'duration'
    | 'frequency'
    | 'id'
    | 'int'
    | 'name'
    | 'number'
    | 'rank'
    | 'rate'
    | 'ratio'
    | 'shape'
    | 'step'
    | 'text'
    | 'time';
  description: string;
  concept: string | null;
  view: string;
  median: number | null;
  least: number | null;
  most: number | null;
  quartiles: number[] | null;
  values: (number | null)[];
  scores: (number | null)[];
}
/**
 * A measure that is known step by step (parameter ``measure``).
 */
export interface RankChoice {
  key: string;
  label: string;
}
export interface ErrorReply {
  error: ErrorBody;
}
/**
 * ``position`` is the character in the filter or parameter that is at fault, from 0.
 */
export interface ErrorBody {
  code: string;
  message: string;
  hint: string;
  position: number | null;
}
export interface TimelineReply {
  data: Timeline;
  meta: Meta;
}
export interface Timeline {
  base_ns: string | null;
  start: number;
  end: number;
  ranks: TimelineRank[];
  tracks: TimelineTrack[];
  kinds: Choice[];
  colours: Choice[];
  steps: TimelineStep[];
  total_ranks: number;
  note: string;
  alignments: Alignment[];
}
/**
 * One capture. ``part``: its ordinal in the selection.
 */
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
  process: string;
  label: string;
  depths: number;
  instants: boolean;
  slices: number;
  points: number;
  start: number;
  end: number;
  counters: CounterSeries[];
  unread: boolean;
}
export interface CounterSeries {
  key: number;
  name: string;
  unit: string;
  least: number;
  most: number;
}
export interface Choice {
  id: string;
  label: string;
}
/**
 * A step as the host marks it.
 */
export interface TimelineStep {
  part: number;
  step: number | null;
  name: string;
  start: number;
  end: number;
}
/**
 * ``shifts``: per part, ns to add to its times; ``None`` where that cannot be told.
 */
export interface Alignment {
  id: string;
  label: string;
  shifts: (number | null)[];
}
export interface SliceReply {
  data: SliceDetail;
  meta: Meta;
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
  facts: SliceFact[];
  stack: string[];
  siblings: Siblings;
  parent: SliceRef | null;
  flows: SliceFlow[];
  flows_total: number;
  previous: SliceRef | null;
  next: SliceRef | null;
  same_previous: SliceRef | null;
  same_next: SliceRef | null;
  gap: SliceGap;
  doors: SliceDoor[];
}
export interface SliceFact {
  label: string;
  value: string;
}
/**
 * Slices of one name on one track; ``rank``: the place of this one, 1 is the longest.
 */
export interface Siblings {
  count: number;
  total: number;
  mean: number;
  least: number;
  most: number;
  rank: number;
}
/**
 * A slice to jump to.
 */
export interface SliceRef {
  id: string;
  track: number;
  depth: number;
  name: string;
  start: number;
  duration: number | null;
  where: string;
}
/**
 * An arrow from (``forward``) or to this slice.
 */
export interface SliceFlow {
  kind: string;
  forward: boolean;
  to: SliceRef;
}
/**
 * Idle time on the track before a slice, and what the host did then.
 */
export interface SliceGap {
  before: number | null;
  behind: string;
}
/**
 * Where a slice has rows of its own.
 */
export interface SliceDoor {
  view: string;
  label: string;
  filter: string;
}
export interface FlowsReply {
  data: Flows;
  meta: Meta;
}
/**
 * The arrows between shown tracks in a window, and how many there are in all.
 */
export interface Flows {
  flows: TimelineFlow[];
  total: number;
}
export interface TimelineFlow {
  kind: string;
  from_track: number;
  from_depth: number;
  start: number;
  to_track: number;
  to_depth: number;
  end: number;
}
export interface SearchReply {
  data: Search;
  meta: Meta;
}
/**
 * Slices that match: ``before`` of them come before the moment asked about, ``matches`` are the
 * longest, ``tracks`` counts them.
 */
export interface Search {
  total: number;
  before: number;
  names: number;
  tracks: TrackMatches[];
  matches: SliceRef[];
  previous: SliceRef | null;
  next: SliceRef | null;
}
export interface TrackMatches {
  track: number;
  count: number;
}
export interface SlicesReply {
  data: Slices;
  meta: Meta;
}
export interface Slices {
  table: Table;
  occupancy: Occupancy[];
  span: number;
}
/**
 * How much of a range a track's outermost slices cover.
 */
export interface Occupancy {
  track: number;
  label: string;
  busy: number;
  share: number;
}
export interface FlameReply {
  data: Flame;
  meta: Meta;
}
export interface Flame {
  kind: string;
  total: number;
  by: Choice[];
  note: string;
  nodes: FlameNodes;
}
/**
 * Nodes of a call tree by columns; ``parent`` is an index (-1: a root), parents come first.
 *
 * ``start``: where the first call of the node begins. ``hue``: as in windows of the timeline.
 */
export interface FlameNodes {
  name: string[];
  hue: number[];
  parent: number[];
  depth: number[];
  total: number[];
  self: number[];
  count: number[];
  start: number[];
}
