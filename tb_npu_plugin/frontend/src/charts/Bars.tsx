/** Stacked bars to one scale, one per rank: as rows for a few, as columns for many. */
import { Door } from '../components/Door';
import { type HoverContent, hoverOn } from '../components/HoverCard';
import { visible } from '../lib/text';
import type { Patch } from '../state/route';
import { BarColumns } from './BarColumns';

/** Positions are shares of the drawn length. */
export interface Piece {
  part: string;
  at: number;
  width: number;
}

export interface BarTick {
  at: number;
  text: string;
}

export interface DrawnBar {
  label: string;
  /** What stands under a column. */
  short: string;
  figure: string;
  pieces: readonly Piece[];
  /** The first piece is longer than its room. */
  cut?: boolean;
  hover: HoverContent;
  /** The bar in words. */
  text: string;
  view: string;
  patch: Patch;
}

export interface BarScale {
  /** About so many round values. */
  ticks: (wanted: number) => readonly BarTick[];
  /** Where zero lies, if not at the edge. */
  zero: number;
}

/** From here on rows no longer fit one screen: columns do. */
const COLUMNS_FROM = 33;

interface Props {
  bars: readonly DrawnBar[];
  scale: BarScale;
  /** What the chart is, for who cannot see it. */
  label: string;
  open: (label: string) => string;
}

export function Bars(props: Props) {
  return props.bars.length >= COLUMNS_FROM ? <BarColumns {...props} /> : <BarRows {...props} />;
}

function BarRows({ bars, scale, open }: Props) {
  const size = bars.length > 12 ? 'bars-thin' : bars.length > 4 ? 'bars-middle' : 'bars-thick';
  return (
    <div class={`bars ${size}`}>
      {bars.map((bar, at) => (
        <Door
          key={at}
          class="bar-row"
          view={bar.view}
          patch={bar.patch}
          label={`${open(bar.label)}. ${bar.text}`}
        >
          <bdi class="bar-label">{visible(bar.label)}</bdi>
          <span class="bar-track" {...hoverOn(() => bar.hover)}>
            <Pieces pieces={bar.pieces} cut={bar.cut ?? false} zero={scale.zero} />
          </span>
          <span class="bar-figure">{bar.figure}</span>
        </Door>
      ))}
      <AxisLine ticks={scale.ticks(5)} />
    </div>
  );
}

interface PiecesProps {
  pieces: readonly Piece[];
  cut: boolean;
  zero: number;
}

/** The drawn parts of one bar; also used inside a table's row. */
export function Pieces({ pieces, cut, zero }: PiecesProps) {
  return (
    <>
      {pieces.map(({ part, at, width }, index) => (
        <i
          key={part}
          class={`seg c-${part}${index === 0 && cut ? ' seg-cut' : ''}`}
          style={`left:${(at * 100).toFixed(3)}%;width:${(width * 100).toFixed(3)}%`}
        />
      ))}
      {zero > 0 && <i class="bar-zero" style={`left:${(zero * 100).toFixed(3)}%`} />}
    </>
  );
}

export function AxisLine({ ticks }: { ticks: readonly BarTick[] }) {
  return (
    <div class="bar-axis" aria-hidden="true">
      <span class="bar-track">
        {ticks.map((tick) => (
          <span key={tick.at} class="tick" style={`left:${(tick.at * 100).toFixed(3)}%`}>
            {tick.text}
          </span>
        ))}
      </span>
    </div>
  );
}

export function Legend({ parts }: { parts: readonly { part: string; text: string }[] }) {
  return (
    <ul class="legend" aria-hidden="true">
      {parts.map(({ part, text }) => (
        <li key={part}>
          <span class={`swatch c-${part}`} />
          {text}
        </li>
      ))}
    </ul>
  );
}

interface FiguresProps {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** The figures behind a chart, for screen readers; the first of a row names it. */
export function Figures({ caption, head, rows }: FiguresProps) {
  return (
    <table class="sr-only">
      <caption>{caption}</caption>
      <thead>
        <tr>
          {head.map((text) => (
            <th key={text} scope="col">
              {text}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...figures], at) => (
          <tr key={at}>
            <th scope="row">{name}</th>
            {figures.map((text, column) => (
              <td key={column}>{text}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
