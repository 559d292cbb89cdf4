/** One sentence about each further view, and the way there. */
import type { Fact } from '../../api/types.gen';
import { Door } from '../../components/Door';
import { LongText } from '../../components/Text';
import { isKnownView } from '../../state/known';

export function Lines({ lines }: { lines: readonly Fact[] }) {
  if (lines.length === 0) return null;
  return (
    <div class="lines">
      {lines.map((line) => (
        <section key={line.key} class="card line-card">
          <h2>{isKnownView(line.key) ? <Door view={line.key}>{line.label}</Door> : line.label}</h2>
          <p>
            <LongText text={line.value} />
          </p>
          {line.note && (
            <p class="quiet">
              <LongText text={line.note} />
            </p>
          )}
        </section>
      ))}
    </div>
  );
}
