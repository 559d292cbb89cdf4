/** Ranks against each other: a map of their distances from the median, their distributions, or their
 * lines over the steps. */
import { useMemo } from 'preact/hooks';
import type { RankGrid, RankMeasure } from '../../api/types.gen';
import { RankLines } from '../../charts/RankLines';
import { RankMap } from '../../charts/RankMap';
import { RankSpread, type SpreadStrip } from '../../charts/RankSpread';
import type { HoverContent } from '../../components/HoverCard';
import { OptionList } from '../../components/OptionList';
import { Popover } from '../../components/Popover';
import { Segmented } from '../../components/Segmented';
import { valueText } from '../../components/table/columns';
import { t } from '../../i18n';
import { exact, formatNumber, type Num } from '../../lib/format';
import { navigate, openView, params } from '../../state/route';
import { pictured } from './groups';

/** The form of the picture that is no map: distributions, or lines over the steps. */
const PLOT = 'plot';

export function Deviation({ grid }: { grid: RankGrid }) {
  const words = t.value.ranks;
  const { ranks, measures } = grid;
  const steps = grid.measure !== '';
  const name = grid.choices.find((each) => each.key === grid.measure)?.label ?? grid.measure;
  const scores = useMemo(
    () => ranks.map((_, row) => measures.map((each) => each.scores[row] ?? null)),
    [grid],
  );
  const describe = (row: number, column: number) => {
    const measure = measures[column];
    if (!measure) return { title: '', rows: [] };
    const value = measure.values[row];
    const score = measure.scores[row];
    return {
      title: `${ranks[row]?.label ?? ''} · ${steps ? words.ofStep(measure.label) : measure.label}`,
      rows: [
        {
          label: steps ? name : measure.label,
          value: formatted(measure, value),
          share: full(measure, value),
        },
        { label: words.median, value: formatted(measure, measure.median) },
        { label: words.least, value: formatted(measure, measure.least) },
        { label: words.most, value: formatted(measure, measure.most) },
        { label: words.score, value: formatNumber(score) },
      ],
      note: measure.description,
    };
  };
  const scored = scores.some((line) => line.some((score) => score !== null));
  const form = scored ? (params.value.form ?? '') : PLOT;
  // With two or three ranks there is no middle to be far from, only their lines over the steps.
  if (!scored && !steps && grid.choices.length === 0) return null;
  const [title, hint] = heading(form, steps ? name : '', scored);
  const open = (row: number, column: number) => {
    const measure = measures[column];
    openView(measure?.view ?? 'step', {
      rank: ranks[row]?.ranks ?? null,
      ...(steps && measure ? { step: measure.key } : {}),
    });
  };
  const label = (grid.group ? words.groupsChart : words.chart)(ranks.length, measures.length);
  const picture = {
    names: ranks.map((rank) => rank.label),
    label: `${label}. ${words.keys}`,
    describe,
    onPick: open,
  };
  return (
    <section class="card" aria-label={title}>
      <header class="chart-head">
        <h2>{title}</h2>
        <Choice grid={grid} />
        {scored && (
          <Segmented
            label={words.form}
            value={form}
            options={[
              { value: '', text: words.map },
              { value: PLOT, text: steps ? words.lines : words.distribution },
            ]}
            onChoose={(next) => navigate({ form: next || null }, 'replace')}
          />
        )}
        {hint && <span class="quiet">{hint}</span>}
        {form !== PLOT && <Scale />}
      </header>
      {form !== PLOT ? (
        <Chart grid={grid} scores={scores} {...picture} />
      ) : steps ? (
        <RankLines {...picture} columns={measures} text={textOf(measures[0])} />
      ) : (
        scored && <RankSpread {...picture} strips={strips(measures)} />
      )}
      {ranks.length < grid.total_ranks && (
        <p class="quiet">{words.shownOf(ranks.length, grid.total_ranks)}</p>
      )}
    </section>
  );
}

/** What the picture is called, and what there is to know of it. `name`: of the measure that it shows step
 * by step. */
function heading(form: string, name: string, scored: boolean): [string, string] {
  const words = t.value.ranks;
  if (form !== PLOT) return [words.deviation, name ? words.stepsHint : words.deviationHint];
  if (name) return [words.perStep(name), scored ? words.dotHint : ''];
  return scored ? [words.spread, words.dotHint] : [words.steps, words.chooseMeasure];
}

interface Picture {
  names: readonly string[];
  label: string;
  describe: (row: number, column: number) => HoverContent;
  onPick: (row: number, column: number) => void;
}

function Chart({
  grid,
  scores,
  ...picture
}: Picture & { grid: RankGrid; scores: readonly (readonly (number | null)[])[] }) {
  const { measures } = grid;
  const steps = grid.measure !== '';
  const { group } = params.value;
  const grouped = pictured(group);
  // Columns of other tables are no measures.
  const now = group && !grouped ? '' : (params.value.sort ?? '');
  return (
    <RankMap
      {...picture}
      columns={measures.map((each) => ({
        key: each.key,
        label: each.label,
        title: each.description,
        sort: now === `${each.key}:desc` ? 'descending' : now === each.key ? 'ascending' : 'none',
      }))}
      scores={scores}
      text={(row, column) => short(measures[column], row)}
      onSort={(key) => {
        const sort = now === `${key}:desc` ? key : `${key}:desc`;
        if (steps) navigate({ step: key, measure: null, offset: null });
        else navigate({ group: grouped, sort, offset: null });
      }}
    />
  );
}

/** The measures that have a distribution at all. */
function strips(measures: readonly RankMeasure[]): SpreadStrip[] {
  return measures.map((measure) => ({
    ...measure,
    least: measure.least ?? 0,
    median: measure.median ?? 0,
    most: measure.most ?? 0,
    text: textOf(measure),
  }));
}

function textOf(measure: RankMeasure | undefined): (value: number) => string {
  return (value) => (measure ? formatted(measure, value) : '');
}

/** All measures over the chosen steps, or one of them step by step. */
function Choice({ grid }: { grid: RankGrid }) {
  const words = t.value.ranks;
  const options = grid.choices.map((each) => ({
    value: each.key,
    text: words.perStep(each.label),
  }));
  if (options.length === 0) return null;
  const all = { value: '', text: words.allMeasures };
  const shown = [all, ...options].find((each) => each.value === grid.measure) ?? all;
  return (
    <Popover caption={words.shown} label={shown.text} width={260}>
      {(close) => (
        <OptionList
          value={grid.measure}
          options={[all, ...options]}
          onChoose={(measure) => {
            navigate({ measure: measure || null }, 'replace');
            close();
          }}
        />
      )}
    </Popover>
  );
}

function Scale() {
  const words = t.value.ranks;
  return (
    <span class="deviation-scale">
      {words.below} <span class="deviation-bar" /> {words.above}
    </span>
  );
}

function formatted(measure: RankMeasure, value: Num): string {
  return valueText(measure, value, t.value);
}

function full({ kind }: RankMeasure, value: Num): string {
  return kind === 'duration' ? exact(value, 'ns', 0) : kind === 'bytes' ? exact(value, 'B', 0) : '';
}

function short(measure: RankMeasure | undefined, row: number): string {
  return measure ? formatted(measure, measure.values[row]) : '';
}
