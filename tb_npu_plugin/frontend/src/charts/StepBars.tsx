/** "Where the step went": a bar per rank, in the parts of a step. */
import { useMemo } from 'preact/hooks';
import type { StepBar } from '../api/types.gen';
import { t } from '../i18n';
import { columnScale, formatDuration, formatScaled, TIME_UNITS } from '../lib/format';
import { Bars, type BarTick, type DrawnBar, Figures, Legend } from './Bars';
import { barPatch, barRows, barText, drawnParts, shortDuration } from './parts';
import { type Axis, axisFor, layBar, type Part, partNs, ticksFor, zeroOf } from './stepLayout';

const TABLE_UP_TO = 128;

export function StepBars({ bars }: { bars: readonly StepBar[] }) {
  const words = t.value.bars;
  const axis = useMemo(() => axisFor(bars), [bars]);
  const drawn = useMemo(() => drawnBars(bars, axis), [bars, axis, words]);
  const scale = useMemo(
    () => ({ ticks: (wanted: number) => stepTicks(axis, wanted), zero: zeroOf(axis) }),
    [axis],
  );
  const parts = drawnParts(bars);
  return (
    <div class="step-bars">
      <Bars bars={drawn} scale={scale} label={words.chart(bars.length)} open={words.open} />
      <Legend parts={named(parts)} />
      {bars.length <= TABLE_UP_TO && (
        <Figures
          caption={words.chart(bars.length)}
          head={[t.value.bar.rank, ...parts.map((part) => words[part]), words.stage]}
          rows={bars.map((bar) => [
            bar.label,
            ...parts.map((part) => formatDuration(partNs(bar, part))),
            formatDuration(bar.stage_ns),
          ])}
        />
      )}
    </div>
  );
}

export function named(parts: readonly Part[]) {
  return parts.map((part) => ({ part, text: t.value.bars[part] }));
}

export function stepTicks(axis: Axis, wanted = 5): BarTick[] {
  return ticksFor(axis, wanted).map(({ value, at }) => ({
    at,
    text: axis.share ? `${Math.round(value * 100)}` : shortDuration(value),
  }));
}

function drawnBars(bars: readonly StepBar[], axis: Axis): DrawnBar[] {
  const scale = columnScale(
    bars.map((bar) => bar.stage_ns),
    TIME_UNITS,
  );
  return bars.map((bar) => {
    const laid = layBar(bar, axis);
    const cut = laid.cut ? t.value.bars.clipped(formatDuration(bar.preparing_ns)) : '';
    return {
      label: bar.label,
      short: bar.rank === null ? '?' : String(bar.rank),
      figure:
        scale && bar.stage_ns !== null
          ? `${formatScaled(bar.stage_ns, scale)} ${scale.unit.name}`
          : formatDuration(bar.stage_ns),
      pieces: laid.segments,
      cut: laid.cut,
      hover: { title: bar.label, rows: barRows(bar), ...(cut ? { note: cut } : {}) },
      text: barText(bar),
      view: 'step',
      patch: barPatch(bar),
    };
  });
}
