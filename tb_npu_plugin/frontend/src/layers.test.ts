/** Imports run one way: each folder may import itself and those before it. */
import { describe, expect, it } from 'vitest';

const LAYERS = ['lib', 'i18n', 'api', 'state', 'components', 'charts', 'views', 'app', 'styles'];
/** The registry names the views' folders, as lazy imports; styles are leaves. */
const sources = import.meta.glob<string>('./**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true,
});

const imports = Object.entries(sources).flatMap(([path, text]) => {
  const from = path.split('/').slice(1);
  return [...text.matchAll(/from '(\.[^']*)'|import\('(\.[^']*)'\)/g)].map((match) => {
    const target = match[1] ?? match[2] ?? '';
    const to = new URL(target, `http://x/${from.join('/')}`).pathname.split('/').slice(1);
    return {
      path,
      from: from[0] as string,
      to: to[0] as string,
      target,
      folders: [from[1], to[1]],
    };
  });
});

describe('layers', () => {
  it('are found', () => {
    expect(imports.length).toBeGreaterThan(50);
  });

  it('are only imported downwards', () => {
    const against = imports.filter(({ from, to }) => {
      if (!LAYERS.includes(from) || to === 'styles') return false;
      return LAYERS.indexOf(to) > LAYERS.indexOf(from);
    });
    expect(against.map(({ path, target }) => `${path} imports ${target}`)).toEqual([]);
  });

  it('keep the views apart', () => {
    const across = imports.filter(
      ({ from, to, folders }) => from === 'views' && to === 'views' && folders[0] !== folders[1],
    );
    expect(across.map(({ path, target }) => `${path} imports ${target}`)).toEqual([]);
  });
});
