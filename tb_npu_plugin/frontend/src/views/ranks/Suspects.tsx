/** What stands out, most costly first: a sentence, what it rests on, and a door to the rows. */
import { useState } from 'preact/hooks';
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

/** So many at first, so that the picture below stays in sight. */
const FEW = 3;

export function Suspects({ suspects, verdict, read }: Props) {
  const words = t.value.ranks;
  const [all, setAll] = useState(false);
  const shown = all || suspects.length <= FEW + 1 ? suspects : suspects.slice(0, FEW);
  return (
    <section class="card" aria-label={words.suspects}>
      <header class="card-head">
        <h2>{words.suspects}</h2>
      </header>
      {!read && <p class="quiet empty-line">{words.reading}</p>}
      {read && verdict && <p class="quiet empty-line">{verdict}</p>}
      {(read ? shown : []).map((each) => (
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
      {read && shown.length < suspects.length && (
        <button type="button" class="link" onClick={() => setAll(true)}>
          {words.more(suspects.length - shown.length)}
        </button>
      )}
    </section>
  );
}

function patchOf({ view, rank, group, filter }: Suspect) {
  const rows = { group: group || null, filter: filter || null };
  if (view === 'ranks') return { ...rows, sort: null };
  return { ...(group ? rows : {}), ...(rank === null ? {} : { rank: String(rank) }) };
}
