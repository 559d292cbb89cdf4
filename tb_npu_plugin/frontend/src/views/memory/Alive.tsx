/** What was alive at a moment: what operators of the capture held, and what lay there before. */
import type { MemoryAlive } from '../../api/types.gen';
import { Door } from '../../components/Door';
import { type HoverContent, hoverOn } from '../../components/HoverCard';
import { inQuotes } from '../../components/table/filter';
import { t } from '../../i18n';
import { formatBytes, formatInt, formatRatio, formatTime } from '../../lib/format';
import { visible } from '../../lib/text';
import { navigate, params, standing } from '../../state/route';
import { type Holding, holdingsOf, lengthOf } from './holdings';
import { rankPatch } from './lanes';

interface Props {
  alive: readonly MemoryAlive[];
  names: readonly string[];
  /** The one whose parts are listed. */
  at: number;
  choose: (name: string) => void;
}

export function Alive({ alive, names, at, choose }: Props) {
  const words = t.value.memory;
  const shown = alive[at];
  const [first] = alive;
  if (!first || !shown) return null;
  const longest = Math.max(1, ...alive.map(lengthOf));
  const size = alive.length > 8 ? 'bars-thin' : alive.length > 2 ? 'bars-middle' : 'bars-thick';
  const asked = params.value.at !== undefined;
  return (
    <section class="card alive-card">
      <header class="card-head">
        <h2>
          {asked ? words.aliveAt(formatTime(first.at_ns)) : words.alivePeak(first.component)}
          {!asked && alive.length === 1 && <span class="quiet"> {formatTime(first.at_ns)}</span>}
        </h2>
        {asked && (
          <button type="button" class="link" onClick={() => navigate({ at: null })}>
            {words.backToPeak}
          </button>
        )}
      </header>
      <div class={`bars ${size}`} role="radiogroup" aria-label={words.heldMost('')}>
        {alive.map((each, index) => (
          <button
            key={names[index]}
            type="button"
            role="radio"
            aria-checked={index === at}
            class="bar-row alive-row"
            aria-label={`${names[index]}: ${spoken(each)}`}
            onClick={() => choose(names[index] ?? '')}
          >
            <bdi class="bar-label">{visible(names[index] ?? '')}</bdi>
            <span class="bar-track">
              <Pieces alive={each} name={names[index] ?? ''} longest={longest} />
            </span>
            <span class="bar-figure">{formatBytes(each.total_bytes ?? each.seen_bytes)}</span>
          </button>
        ))}
      </div>
      <Holdings alive={shown} name={names[at] ?? ''} several={alive.length > 1} />
    </section>
  );
}

function Pieces({ alive, name, longest }: { alive: MemoryAlive; name: string; longest: number }) {
  let at = 0;
  return (
    <>
      {holdingsOf(alive).map((holding) => {
        const left = at;
        at += holding.bytes;
        return (
          <i
            key={holding.key}
            class={`seg piece c-${holding.concept}`}
            style={`left:${pct(left / longest)};width:${pct(holding.bytes / longest)};opacity:${holding.strength}`}
            {...hoverOn(() => hovered(holding, alive, name))}
          />
        );
      })}
    </>
  );
}

function hovered(holding: Holding, alive: MemoryAlive, name: string): HoverContent {
  const words = t.value.memory;
  const rows = [
    {
      label: nameOf(holding),
      value: formatBytes(holding.bytes),
      share: share(holding, alive),
      concept: holding.concept,
    },
    ...(holding.count === null ? [] : [{ label: words.blocks(holding.count), value: '' }]),
    { label: words.total, value: formatBytes(alive.total_bytes) },
  ];
  return { title: `${name} · ${formatTime(alive.at_ns)}`, rows };
}

function Holdings({
  alive,
  name,
  several,
}: {
  alive: MemoryAlive;
  name: string;
  several: boolean;
}) {
  const words = t.value.memory;
  const holdings = holdingsOf(alive);
  const most = Math.max(1, ...holdings.map((holding) => holding.bytes));
  const door = (filter: string | null) =>
    standing({
      ...(several ? rankPatch(alive.rank) : {}),
      group: 'alive',
      filter,
      sort: null,
      columns: null,
      offset: null,
    });
  return (
    <div class="holdings">
      <header class="holdings-head">
        <h3>{words.heldMost(visible(name))}</h3>
        <Door view="memory" patch={door(null)}>
          {words.blocksThen}
        </Door>
      </header>
      <ul>
        {holdings.map((holding) => (
          <li key={holding.key} class="holding">
            <span class={`swatch c-${holding.concept}`} style={`opacity:${holding.strength}`} />
            <span class="holding-name">
              {holding.name === null ? (
                nameOf(holding)
              ) : (
                <Door view="memory" patch={door(`name=${inQuotes(holding.name)}`)}>
                  <bdi>{visible(holding.name)}</bdi>
                </Door>
              )}
            </span>
            <span class="figure quiet">
              {holding.count === null ? '' : formatInt(holding.count)}
            </span>
            <span class="figure">{formatBytes(holding.bytes)}</span>
            <span class="figure quiet">{share(holding, alive)}</span>
            <span class="meter" aria-hidden="true">
              <span
                class={`c-${holding.concept}`}
                style={`width:${pct(holding.bytes / most)};opacity:${holding.strength}`}
              />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const pct = (value: number) => `${(value * 100).toFixed(3)}%`;

function share(holding: Holding, alive: MemoryAlive): string {
  return alive.total_bytes ? formatRatio(holding.bytes / alive.total_bytes) : '';
}

function nameOf(holding: Holding): string {
  const words = t.value.memory;
  if (holding.kind === 'unseen') return words.unseen;
  if (holding.kind === 'others') return words.others(holding.operators);
  return holding.name ?? words.unnamed;
}

function spoken(alive: MemoryAlive): string {
  const words = t.value.memory;
  return [
    `${words.total} ${formatBytes(alive.total_bytes)}`,
    `${words.unseen} ${formatBytes(alive.unseen_bytes)}`,
    `${words.seen} ${formatBytes(alive.seen_bytes)}`,
  ].join(', ');
}
