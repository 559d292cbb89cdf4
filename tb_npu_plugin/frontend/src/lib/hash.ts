/**
 * The tab's state in TensorBoard's address: `#npu_profiler&p.npu_profiler.view=kernel&…`.
 *
 * TensorBoard keeps every `p.<plugin>.` key when tabs are switched, splits at `&` and `=`, and
 * decodes both sides; whatever is not ours is handed back as it came.
 */

export type Params = Readonly<Record<string, string>>;

export const PLUGIN = 'npu_profiler';
const PREFIX = `p.${PLUGIN}.`;

interface Part {
  raw: string;
  key: string;
  value: string | null;
}

function parts(hash: string): Part[] {
  return hash
    .replace(/^#/, '')
    .split('&')
    .filter((raw) => raw !== '')
    .map((raw) => {
      const at = raw.indexOf('=');
      if (at < 0) return { raw, key: decode(raw), value: null };
      return { raw, key: decode(raw.slice(0, at)), value: decode(raw.slice(at + 1)) };
    });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray % in a hand-edited link
  }
}

/** What keeps a link readable may stay: TensorBoard's parser only minds `&` and `=`. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%(2C|3A|2F)/g, (code) => decodeURIComponent(code));
}

/** Our own keys, without their prefix. */
export function readHash(hash: string): Params {
  const own: Record<string, string> = {};
  for (const { key, value } of parts(hash)) {
    if (value !== null && key.startsWith(PREFIX)) own[key.slice(PREFIX.length)] = value;
  }
  return own;
}

/** The tab that the hash names: `scalars` for `#scalars&…`, null when it names none. */
export function tabOf(hash: string): string | null {
  return parts(hash).find((part) => part.value === null)?.key ?? null;
}

/** `hash` with our keys replaced by `params`; the tab and other plugins' keys stay. */
export function writeHash(hash: string, params: Params): string {
  const kept = parts(hash).filter((part) => !part.key.startsWith(PREFIX));
  const tab = kept.find((part) => part.value === null)?.raw ?? PLUGIN;
  const others = kept.filter((part) => part.value !== null).map((part) => part.raw);
  const own = Object.entries(params)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `${PREFIX}${key}=${encode(value)}`);
  return `#${[tab, ...others, ...own].join('&')}`;
}
