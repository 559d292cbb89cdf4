/** The menu: views by what one wants to do, with how much there is in each. */
import { signal } from '@preact/signals';
import { Door } from '../components/Door';
import { Icon } from '../components/Icon';
import { t } from '../i18n';
import { formatCompact, formatInt } from '../lib/format';
import { view } from '../state/route';
import { counts } from '../state/session';
import { GROUPS, VIEWS } from './registry';

const KEY = 'npu_profiler.rail';

function stored(): boolean {
  try {
    return localStorage.getItem(KEY) === 'collapsed';
  } catch {
    return false;
  }
}

const collapsed = signal(stored());

function toggle(): void {
  collapsed.value = !collapsed.value;
  try {
    localStorage.setItem(KEY, collapsed.value ? 'collapsed' : 'open');
  } catch {
    // Not remembered, then.
  }
}

export function Rail() {
  const words = t.value;
  const small = collapsed.value;
  const label = small ? words.rail.expand : words.rail.collapse;
  return (
    <nav class={`rail${small ? ' rail-small' : ''}`} aria-label={words.rail.label}>
      {GROUPS.map((group) => {
        const views = VIEWS.filter((each) => each.group === group);
        return (
          views.length > 0 && (
            <div key={group} class="rail-group">
              <h2>{words.groups[group]}</h2>
              {views.map(({ id, icon }) => (
                <Door
                  key={id}
                  view={id}
                  class="rail-item"
                  current={view.value === id}
                  {...(small ? { title: words.views[id] } : {})}
                >
                  <Icon name={icon} />
                  <span class="rail-label">{words.views[id]}</span>
                  <Count id={id} />
                </Door>
              ))}
            </div>
          )
        );
      })}
      <span class="spacer" />
      <button
        type="button"
        class="rail-item rail-toggle"
        aria-expanded={!small}
        aria-label={label}
        title={label}
        onClick={toggle}
      >
        <Icon name={small ? 'right' : 'left'} />
        <span class="rail-label">{label}</span>
      </button>
    </nav>
  );
}

function Count({ id }: { id: string }) {
  const count = counts.value[id];
  if (count === undefined) return null;
  const { health_errors: errors = 0, health_warnings: warnings = 0 } = counts.value;
  if (id === 'health' && errors + warnings > 0) {
    const level = errors > 0 ? 'error' : 'warning';
    return (
      <span class={`rail-count s-${level}`}>
        <Icon name={level} size={12} /> {formatCompact(count)}
      </span>
    );
  }
  return (
    <span class="rail-count" title={formatInt(count)}>
      {formatCompact(count)}
    </span>
  );
}
