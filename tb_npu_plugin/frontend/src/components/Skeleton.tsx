/** Grey shapes where the content will stand; they appear only if it takes longer than a blink. */
import { t } from '../i18n';

export function Skeleton({ rows = 6, head = true }: { rows?: number; head?: boolean }) {
  return (
    <div class="skeleton" role="status" aria-label={t.value.table.loading}>
      {head && <span class="bone bone-head" />}
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} class="bone" style={`width:${92 - ((i * 17) % 40)}%`} />
      ))}
    </div>
  );
}
