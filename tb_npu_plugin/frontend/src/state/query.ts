/** What every view asks with: the selection of the address, and the language. */
import type { Query } from '../api/client';
import { lang } from '../i18n';
import { selection } from './route';

export function selectionQuery(): Query {
  return { ...selection.value, lang: lang.value };
}
