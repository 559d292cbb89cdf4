/** How blocks ended, as filters of the allocations. */
import type { MemoryState } from '../../api/types.gen';
import { addTerm, hasTerm, withoutTerm } from '../../components/table/filter';
import { t } from '../../i18n';
import { formatBytes, formatInt } from '../../lib/format';
import { navigate, params } from '../../state/route';

export function States({ states }: { states: readonly MemoryState[] }) {
  if (states.length === 0) return null;
  const { filter = '', group } = params.value;
  const toggle = (state: MemoryState) => {
    const term = `state=${state.key}`;
    if (group) {
      // Other groupings have no states: back to the blocks themselves
      navigate({ group: null, sort: null, columns: null, offset: null, filter: term });
      return;
    }
    const others = states.reduce((text, each) => withoutTerm(text, `state=${each.key}`), filter);
    const next = hasTerm(filter, term) ? others : addTerm(others, term);
    navigate({ filter: next, offset: null });
  };
  return (
    <fieldset class="facets" aria-label={t.value.memory.states}>
      {states.map((state) => (
        <button
          key={state.key}
          type="button"
          class="chip wide"
          aria-pressed={!group && hasTerm(filter, `state=${state.key}`)}
          title={`${state.label}: ${formatBytes(state.size_bytes)}`}
          onClick={() => toggle(state)}
        >
          {state.label} <span class="quiet">{formatInt(state.count)}</span>
        </button>
      ))}
    </fieldset>
  );
}
