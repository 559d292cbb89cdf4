/** Labelled facts, as a list of terms. */
import type { Fact } from '../api/types.gen';
import { CopyButton } from './CopyButton';
import { LongText } from './Text';

export function Facts({ facts, wide = false }: { facts: readonly Fact[]; wide?: boolean }) {
  return (
    <dl class={`facts${wide ? ' facts-wide' : ''}`}>
      {facts.map((fact) => (
        <div key={fact.key}>
          <dt>{fact.label}</dt>
          <dd>
            <LongText text={fact.value} />
            {fact.note && <span class="quiet"> {fact.note}</span>}
            {wide && <CopyButton class="icon-button" text={fact.value} />}
          </dd>
        </div>
      ))}
    </dl>
  );
}
