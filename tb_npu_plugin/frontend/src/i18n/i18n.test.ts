import { describe, expect, it } from 'vitest';
import { chooseLang, DICTIONARIES, rememberLang } from '.';

type Leaf = { path: string; text: string };

function leaves(node: unknown, path = ''): Leaf[] {
  if (typeof node === 'string') return [{ path, text: node }];
  if (typeof node === 'function') return [{ path, text: String(node(3, 7)) }];
  return Object.entries(node as object).flatMap(([key, child]) => leaves(child, `${path}.${key}`));
}

const en = leaves(DICTIONARIES.en);
const zh = leaves(DICTIONARIES.zh);
const CHINESE = /[\u4e00-\u9fff]/;
/** Words of the field that Chinese engineers leave in English, and file names. */
const SAME =
  /^(Run|Step|Stage|Bubble|Host API|AI CPU|CSV|ms|\S*[/*]\S*( \S*[/*]\S*)*|3 \/ 7|undefined \/ undefined)$/;

describe('the two languages', () => {
  it('have the same keys', () => {
    expect(zh.map((leaf) => leaf.path)).toEqual(en.map((leaf) => leaf.path));
  });

  it('leave nothing empty', () => {
    for (const { path, text } of [...en, ...zh]) expect(text.trim(), path).not.toBe('');
  });

  it('say it in Chinese, and only there', () => {
    for (const { path, text } of zh) {
      if (path === '.bar.language' || path === '.bar.languageHint') continue;
      expect(CHINESE.test(text) || SAME.test(text), `${path}: ${text}`).toBe(true);
    }
    for (const { path, text } of en) {
      if (path.startsWith('.bar.language')) continue;
      expect(CHINESE.test(text), `${path}: ${text}`).toBe(false);
    }
  });

  it('put every parameter into the sentence', () => {
    const parameters = (dictionary: unknown, path = ''): void => {
      for (const [key, value] of Object.entries(dictionary as object)) {
        if (typeof value === 'object') parameters(value, `${path}.${key}`);
        if (typeof value !== 'function' || value.length === 0 || key === 'findingsWord') continue;
        const args = Array.from({ length: value.length }, (_, i) => 700 + i);
        const text = value(...args);
        // badRange counts from 1 where the argument counts from 0.
        for (const arg of args)
          expect(
            [`${arg}`, `${arg + 1}`].some((shown) => text.includes(shown)),
            `${path}.${key}`,
          ).toBe(true);
      }
    };
    parameters(DICTIONARIES.en);
    parameters(DICTIONARIES.zh);
  });

  it('never shouts', () => {
    for (const { path, text } of [...en, ...zh]) {
      const words = text.replace('!=', '');
      expect(/[!\uff01]/.test(words), path).toBe(false);
    }
  });
});

describe('chooseLang', () => {
  it('prefers the link, then the last choice, then the browser', () => {
    localStorage.clear();
    expect(chooseLang('zh')).toBe('zh');
    expect(chooseLang('fr')).toBe(navigator.language.startsWith('zh') ? 'zh' : 'en');
    rememberLang('zh');
    expect(chooseLang(undefined)).toBe('zh');
    expect(chooseLang('en')).toBe('en');
    localStorage.clear();
  });
});
