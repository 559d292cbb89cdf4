/** Every rank (down) by every measure (across): the colour is its distance from the median. */
import { useMemo } from 'preact/hooks';
import type { RankGrid, RankMeasure } from '../../api/types.gen';
import { RankMap } from '../../charts/RankMap';
import { OptionList } from '../../components/OptionList';
import { Popover } from '../../components/Popover';
import { valueText } from '../../components/table/columns';
import { t } from '../../i18n';
import { exact, formatNumber, type Num } from '../../lib/format';
import { navigate, openView, params } from '../../state/route';
import { pictured } from './groups';

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
  const { group } = params.value;
  const grouped = pictured(group);
  // Columns of other tables are no measures.
  const now = group && !grouped ? '' : (params.value.sort ?? '');
  return (
    <section class="card" aria-label={words.deviation}>
      <header class="chart-head">
        <h2>{words.deviation}</h2>
        <Choice grid={grid} />
        <span class="quiet">{steps ? words.stepsHint : words.deviationHint}</span>
        <Scale />
      </header>
      <RankMap
        names={ranks.map((rank) => rank.label)}
        columns={measures.map((each) => ({
          key: each.key,
          label: each.label,
          title: each.description,
          sort: now === `${each.key}:desc` ? 'descending' : now === each.key ? 'ascending' : 'none',
        }))}
        scores={scores}
        text={(row, column) => short(measures[column], row)}
        label={(grid.group ? words.groupsChart : words.chart)(ranks.length, measures.length)}
        keys={words.keys}
        describe={describe}
        onSort={(key) => {
          const sort = now === `${key}:desc` ? key : `${key}:desc`;
          if (steps) navigate({ step: key, measure: null, offset: null });
          else navigate({ group: grouped, sort, offset: null });
        }}
        onPick={(row, column) => {
          const measure = measures[column];
          openView(measure?.view ?? 'step', {
            rank: ranks[row]?.ranks ?? null,
            ...(steps && measure ? { step: measure.key } : {}),
          });
        }}
      />
      {ranks.length < grid.total_ranks && (
        <p class="quiet">{words.shownOf(ranks.length, grid.total_ranks)}</p>
      )}
    </section>
  );
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
