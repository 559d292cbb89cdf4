/** What stands out, most costly first: a sentence, what it rests on, and a door to the rows. */
import type { Suspect } from '../../api/types.gen';
import { Door } from '../../components/Door';
import { Severity } from '../../components/Severity';
import { LongText } from '../../components/Text';
import { t } from '../../i18n';

interface Props {
  suspects: readonly Suspect[];
  verdict: string;
  /** Whether all of it has been read: who stands out among the first few says nothing. */
  read: boolean;
}

export function Suspects({ suspects, verdict, read }: Props) {
  const words = t.value.ranks;
  return (
    <section class="card" aria-label={words.suspects}>
      <header class="card-head">
        <h2>{words.suspects}</h2>
      </header>
      {!read && <p class="quiet empty-line">{words.reading}</p>}
      {read && verdict && <p class="quiet empty-line">{verdict}</p>}
      {(read ? suspects : []).map((each) => (
        <article key={each.headline} class="finding">
          <Severity level={each.severity} />
          <div class="finding-body">
            <p class="finding-message">
              <LongText text={each.headline} />
            </p>
            {each.evidence.map((line) => (
              <p key={line} class="finding-remedy">
                <LongText text={line} />
              </p>
            ))}
          </div>
          <div class="finding-doors">
            <Door view={each.view} patch={patchOf(each)}>
              {t.value.views[each.view as keyof typeof t.value.views] ?? each.view}
            </Door>
          </div>
        </article>
      ))}
    </section>
  );
}

function patchOf({ view, rank, filter }: Suspect) {
  if (view === 'ranks') return { group: 'collective', filter: null, sort: null };
  if (view === 'communication') return { group: 'matrix', filter };
  return rank === null ? {} : { rank: String(rank) };
}
