/** "Where the step went": a bar per rank, as rows for a few ranks and as columns for many. */
import type { StepBar } from '../api/types.gen';
import { Door } from '../components/Door';
import { t } from '../i18n';
import { columnScale, formatDuration, formatScaled, TIME_UNITS } from '../lib/format';
import { visible } from '../lib/text';
import { barHover, barPatch, barText, drawnParts, shortDuration } from './parts';
import { StepColumns } from './StepColumns';
import {
  type Axis,
  axisFor,
  type LaidBar,
  layBar,
  type Part,
  partNs,
  ticksFor,
} from './stepLayout';

/** From here on rows no longer fit one screen: columns do. */
const COLUMNS_FROM = 33;
const TABLE_UP_TO = 128;

export function StepBars({ bars }: { bars: readonly StepBar[] }) {
  const many = bars.length >= COLUMNS_FROM;
  return (
    <div class="step-bars">
      {many ? <StepColumns bars={bars} /> : <Rows bars={bars} />}
      <Legend parts={drawnParts(bars)} />
      {bars.length <= TABLE_UP_TO && <Figures bars={bars} />}
    </div>
  );
}

function Rows({ bars }: { bars: readonly StepBar[] }) {
  const axis = axisFor(bars);
  const scale = columnScale(
    bars.map((bar) => bar.stage_ns),
    TIME_UNITS,
  );
  const size = bars.length > 12 ? 'bars-thin' : bars.length > 4 ? 'bars-middle' : 'bars-thick';
  return (
    <div class={`bars ${size}`}>
      {bars.map((bar, at) => {
        const laid = layBar(bar, axis);
        const stage =
          scale && bar.stage_ns !== null
            ? `${formatScaled(bar.stage_ns, scale)} ${scale.unit.name}`
            : formatDuration(bar.stage_ns);
        return (
          <Door
            key={at}
            class="bar-row"
            view="step"
            patch={barPatch(bar)}
            label={`${t.value.bars.open(bar.label)}. ${barText(bar)}`}
          >
            <bdi class="bar-label">{visible(bar.label)}</bdi>
            <span class="bar-track" {...barHover(bar, cutNote(laid, bar))}>
              <Segments laid={laid} axis={axis} />
            </span>
            <span class="bar-figure">{stage}</span>
          </Door>
        );
      })}
      <AxisLine axis={axis} />
    </div>
  );
}

function cutNote(laid: LaidBar, bar: StepBar): string {
  return laid.cut ? t.value.bars.clipped(formatDuration(bar.preparing_ns)) : '';
}

/** The drawn parts of one bar; also used inside a table's row. */
export function Segments({ laid, axis }: { laid: LaidBar; axis: Axis }) {
  const zero = (100 * axis.before) / (axis.before + axis.after);
  return (
    <>
      {laid.segments.map((segment) => (
        <i
          key={segment.part}
          class={`seg c-${segment.part}${segment.part === 'preparing' && laid.cut ? ' seg-cut' : ''}`}
          style={`left:${(segment.at * 100).toFixed(3)}%;width:${(segment.width * 100).toFixed(3)}%`}
        />
      ))}
      {axis.before > 0 && <i class="bar-zero" style={`left:${zero.toFixed(3)}%`} />}
    </>
  );
}

export function AxisLine({ axis }: { axis: Axis }) {
  const ticks = ticksFor(axis);
  const label = (value: number) =>
    axis.share ? `${Math.round(value * 100)}` : shortDuration(value);
  return (
    <div class="bar-axis" aria-hidden="true">
      <span class="bar-track">
        {ticks.map((tick) => (
          <span key={tick.value} class="tick" style={`left:${(tick.at * 100).toFixed(3)}%`}>
            {label(tick.value)}
          </span>
        ))}
      </span>
    </div>
  );
}

export function Legend({ parts }: { parts: readonly Part[] }) {
  return (
    <ul class="legend" aria-hidden="true">
      {parts.map((part) => (
        <li key={part}>
          <span class={`swatch c-${part}`} />
          {t.value.bars[part]}
        </li>
      ))}
    </ul>
  );
}

/** The figures behind the bars, for screen readers. */
function Figures({ bars }: { bars: readonly StepBar[] }) {
  const parts = drawnParts(bars);
  const words = t.value.bars;
  return (
    <table class="sr-only">
      <caption>{words.chart(bars.length)}</caption>
      <thead>
        <tr>
          <th scope="col">{t.value.bar.rank}</th>
          {parts.map((part) => (
            <th key={part} scope="col">
              {words[part]}
            </th>
          ))}
          <th scope="col">{words.stage}</th>
        </tr>
      </thead>
      <tbody>
        {bars.map((bar, at) => (
          <tr key={at}>
            <th scope="row">{bar.label}</th>
            {parts.map((part) => (
              <td key={part}>{formatDuration(partNs(bar, part))}</td>
            ))}
            <td>{formatDuration(bar.stage_ns)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
