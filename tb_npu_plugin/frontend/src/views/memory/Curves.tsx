/** The curves of one component: what it took from the device, and what was in use. */
import { useMemo, useRef } from 'preact/hooks';
import type { Memory } from '../../api/types.gen';
import type { Describe } from '../../charts/lanes';
import { StepCurves } from '../../charts/StepCurves';
import { Segmented } from '../../components/Segmented';
import { t } from '../../i18n';
import { exact, formatBytes, formatTime } from '../../lib/format';
import { parseInstant } from '../../lib/instant';
import { valueAt } from '../../lib/steps';
import { navigate, params } from '../../state/route';
import { lanesOf, MEASURES, type Measure, measuresOf, topOf, wholeSpan } from './lanes';

export function Curves({ data }: { data: Memory }) {
  const words = t.value.memory;
  const { component = data.component, show, at, start, end } = params.value;
  const there = useMemo(() => {
    const own = data.series.filter((each) => each.component === component);
    return new Set(own.map((each) => each.measure));
  }, [data, component]);
  const measures = useMemo(() => measuresOf(show, there), [show, there]);
  const lanes = useMemo(() => lanesOf(data, component, measures), [data, component, measures]);
  const whole = useMemo(() => wholeSpan(data.series), [data]);
  const from = parseInstant(start) ?? whole[0];
  const to = Math.max(from + 1, parseInstant(end) ?? whole[1]);
  const top = useMemo(() => topOf(lanes), [lanes]);
  const zoomedIn = start !== undefined || end !== undefined;
  // Of a span the reply has only what lies in it: how far one can zoom out is known from before.
  const all = useRef<[number, number]>([0, 0]);
  if (!zoomedIn) all.current = whole;
  const coarse = data.series.some((each) => each.component === component && !each.exact);
  const notes = [
    data.ranks_shown < data.ranks_total ? words.shownOf(data.ranks_shown, data.ranks_total) : '',
    coarse ? words.coarse : '',
  ];
  const describe: Describe = (lane, time) => ({
    title: `${lane.label} · ${formatTime(time)}`,
    rows: lane.curves.map((curve) => {
      const value = valueAt(curve, time);
      return {
        label: words[curve.measure as Measure],
        value: formatBytes(value),
        share: value === null ? '' : exact(value, 'B'),
        concept: curve.measure,
      };
    }),
  });
  const unzoom = () => navigate({ start: null, end: null });
  const drawn = lanes.some((lane) => lane.curves.length > 0);
  return (
    <section class="card curves-card" aria-label={words.curves}>
      <header class="chart-head">
        <h2>{words.curves}</h2>
        <Segmented
          label={words.component}
          value={component}
          options={data.components.map((each) => ({ value: each, text: each }))}
          onChoose={(next) => navigate({ component: next })}
        />
        <Totals measures={measures} there={there} />
        <span class="spacer" />
        {zoomedIn && (
          <button type="button" class="button" onClick={unzoom}>
            {words.whole}
          </button>
        )}
      </header>
      {drawn ? (
        <>
          <StepCurves
            lanes={lanes}
            view="memory"
            span={[from, to]}
            whole={[Math.min(all.current[0], from), Math.max(all.current[1], to)]}
            top={top}
            moment={parseInstant(at)}
            figure={words.peak}
            label={words.chart(lanes.length)}
            keys={words.keys}
            labelHint={words.onlyRank}
            describe={describe}
            onPick={(time) => navigate({ at: String(time) })}
            onSpan={(first, last) => navigate({ start: String(first), end: String(last) })}
            onWhole={unzoom}
          />
          <p class="quiet chart-note">
            {[...notes, words.gestures].filter(Boolean).map((note) => (
              <span key={note}>{note}</span>
            ))}
          </p>
        </>
      ) : (
        <p class="quiet empty-line">{words.noCurves}</p>
      )}
    </section>
  );
}

interface TotalsProps {
  measures: ReadonlySet<Measure>;
  /** Those that the component has. */
  there: ReadonlySet<Measure>;
}

/** Which totals are drawn; it is the legend as well. */
function Totals({ measures, there }: TotalsProps) {
  const words = t.value.memory;
  const toggle = (measure: Measure) => {
    const next = MEASURES.filter((each) => (each === measure) !== measures.has(each));
    navigate({ show: next.length === there.size ? null : next.join(',') }, 'replace');
  };
  return (
    <fieldset class="toggles" aria-label={words.measures}>
      {MEASURES.map((measure) => (
        <label key={measure} class="toggle" title={words[`${measure}Hint`]}>
          <input
            type="checkbox"
            checked={measures.has(measure)}
            // The last one stays: an empty chart says nothing.
            disabled={!there.has(measure) || (measures.has(measure) && measures.size === 1)}
            onChange={() => toggle(measure)}
          />
          <span class={`swatch swatch-${measure} c-${measure}`} />
          {words[measure]}
        </label>
      ))}
    </fieldset>
  );
}
