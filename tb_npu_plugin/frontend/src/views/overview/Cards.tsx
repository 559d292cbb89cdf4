/** The headline figures. */
import type { Card } from '../../api/types.gen';
import { t } from '../../i18n';
import { exact, formatDuration, formatRatio } from '../../lib/format';

export function Cards({ cards }: { cards: readonly Card[] }) {
  return (
    <div class="cards">
      {cards.map((card) => (
        <section key={card.key} class="card figure-card" title={exact(card.value_ns, 'ns')}>
          <h2>{card.label}</h2>
          <p class="figure-value">{formatDuration(card.value_ns)}</p>
          {card.ratio !== null && (
            <p class="quiet">{t.value.overview.cardOf(formatRatio(card.ratio), card.of)}</p>
          )}
          {card.note && <p class="quiet">{card.note}</p>}
          {card.ratio !== null && (
            <span class="meter" aria-hidden="true">
              <span
                class={`c-${card.concept ?? 'accent'}`}
                style={`width:${(Math.min(1, Math.max(0, card.ratio)) * 100).toFixed(1)}%`}
              />
            </span>
          )}
        </section>
      ))}
    </div>
  );
}
