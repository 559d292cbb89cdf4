/** How much went over which link of each rank, and how fast. */
import type { Communication, CommunicationRank } from '../../api/types.gen';
import { SimpleTable } from '../../components/table/SimpleTable';
import { type ShortColumn, shortTable } from '../../components/table/shortTable';
import { t } from '../../i18n';

export function Links({ data }: { data: Communication }) {
  const words = t.value.communication;
  const names = linkNames(data.ranks);
  const used = names.filter((name) =>
    data.ranks.some((rank) => (link(rank, name)?.size_bytes ?? 0) > 0),
  );
  const sums = used.filter((name) => data.ranks.some((rank) => link(rank, name)?.sum_of_others));
  const unused = names.filter((name) => !used.includes(name) && !isSum(data.ranks, name));
  if (names.length === 0) return null;
  return (
    <section class="card links-card">
      <header class="card-head">
        <h2>{words.links}</h2>
      </header>
      <div class="short-scroll">
        <SimpleTable
          table={shortTable(
            data.ranks,
            columnsOf(data.ranks, [...used.filter((name) => !sums.includes(name)), ...sums]),
          )}
          label={words.links}
          decimal
          door={(row, key) => {
            const rank = data.ranks[row];
            if (!rank || key !== 'rank' || data.total_ranks < 2) return null;
            const patch = { rank: rank.rank === null ? 'unknown' : String(rank.rank) };
            return { view: 'communication', patch };
          }}
        />
      </div>
      <p class="quiet">
        {[
          sums.length > 0 ? words.sdmaHint : '',
          unused.length > 0 ? words.unused(unused.join(', ')) : '',
        ]
          .filter(Boolean)
          .join(' ')}
      </p>
    </section>
  );
}

const link = (rank: CommunicationRank, name: string) =>
  rank.links.find((each) => each.link === name);

const isSum = (ranks: readonly CommunicationRank[], name: string) =>
  ranks.some((rank) => link(rank, name)?.sum_of_others);

function linkNames(ranks: readonly CommunicationRank[]): string[] {
  return [...new Set(ranks.flatMap((rank) => rank.links.map((each) => each.link)))];
}

function columnsOf(
  ranks: readonly CommunicationRank[],
  names: readonly string[],
): ShortColumn<CommunicationRank>[] {
  const words = t.value.communication;
  const links = names.flatMap((name): ShortColumn<CommunicationRank>[] => [
    [`${name} size`, `${name} ${words.size}`, 'bytes', (rank) => link(rank, name)?.size_bytes],
    [
      `${name} rate`,
      `${name} ${words.bandwidth}`,
      'rate',
      (rank) => link(rank, name)?.bandwidth_bytes_per_s,
    ],
  ]);
  // The sum's bandwidth would be a mean over links
  const own = links.filter(([key]) => !(key.endsWith(' rate') && isSum(ranks, key.slice(0, -5))));
  return [['rank', t.value.bar.rank, 'text', (rank) => rank.label], ...own];
}
