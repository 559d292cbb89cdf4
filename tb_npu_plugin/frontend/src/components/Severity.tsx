/** How bad a finding is: a shape and a word, never a colour alone. */
import type { Finding } from '../api/types.gen';
import { t } from '../i18n';
import { Icon } from './Icon';

export type Level = Finding['severity'];
export const LEVELS: readonly Level[] = ['error', 'warning', 'info'];

export function Severity({ level, word = false }: { level: Level; word?: boolean }) {
  const name = t.value.health[level];
  return (
    <span class={`severity s-${level}`} title={name}>
      <Icon name={level} />
      <span class={word ? '' : 'sr-only'}>{name}</span>
    </span>
  );
}
