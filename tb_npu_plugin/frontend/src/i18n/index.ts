/** The language of the page and its words: `t.value.table.columns`. */
import { computed, signal } from '@preact/signals';
import { en } from './en';
import type { Dictionary } from './types';
import { zh } from './zh';

export type Lang = 'en' | 'zh';

export const DICTIONARIES: Record<Lang, Dictionary> = { en, zh };
const KEY = 'npu_profiler.lang';

export const lang = signal<Lang>('en');
export const t = computed(() => DICTIONARIES[lang.value]);

function asLang(text: string | null | undefined): Lang | null {
  return text === 'en' || text === 'zh' ? text : null;
}

/** The link's language, else the one chosen last, else the browser's. */
export function chooseLang(fromHash: string | undefined): Lang {
  return (
    asLang(fromHash) ?? asLang(stored()) ?? (navigator.language.startsWith('zh') ? 'zh' : 'en')
  );
}

export function rememberLang(choice: Lang): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // Storage may be forbidden; the link still carries the language.
  }
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
