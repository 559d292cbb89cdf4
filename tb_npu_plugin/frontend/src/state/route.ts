/** The page's state, which is the address: what is selected, which view, how its table stands. */
import { computed, signal } from '@preact/signals';
import { type Params, PLUGIN, readHash, tabOf, writeHash } from '../lib/hash';
import { hostWindow } from './host';

export type Patch = Readonly<Record<string, string | null | undefined>>;

/** What every view shares. The names are those of the API. */
export const SELECTION_KEYS = ['run', 'recording', 'rank', 'device', 'step', 'source'] as const;
/** What belongs to one view and is put aside when another is opened. */
export const VIEW_KEYS = [
  ...(['group', 'sort', 'filter', 'columns', 'offset', 'scale'] as const),
  // Memory: the component, the totals shown, the moment asked about, the span on screen
  ...(['component', 'show', 'at', 'start', 'end'] as const),
  // Communication: which operations the matrix sums up, and whether with its diagonal
  ...(['key', 'local'] as const),
  // … and what its links can carry; Ranks: how the job is cut, what is shown step by step, as what
  ...(['peak', 'shape', 'measure', 'form'] as const),
  // Timeline: the span on screen, what is selected and looked for, how slices are coloured
  ...([
    'w',
    'slice',
    'range',
    'find',
    'colour',
    'arrows',
    'clock',
    'idle',
    'dense',
    'name',
  ] as const),
  // Flame graph: what is weighed, how calls are ordered, the call looked into, the range
  ...(['by', 'order', 'zoom', 'from', 'to'] as const),
  // … and how its tracks stand, are aligned and marked
  ...(['fold', 'pin', 'hide', 'move', 'tracks', 'align', 'shift', 'marks', 'y'] as const),
  // Files: the one whose rows are shown
  'file',
] as const;
/** What means something only in the recording it was chosen in. */
export const OTHER_RECORDING: Patch = {
  ...{ offset: null, at: null, start: null, end: null, key: null, file: null },
  ...{ w: null, slice: null, range: null, name: null, shift: null, marks: null },
  ...{ zoom: null, from: null, to: null },
  ...{ fold: null, pin: null, hide: null, move: null, y: null },
};

export const params = signal<Params>({});
export const view = computed(() => params.value.view || 'overview');

/** Only the selection, so that a view's data does not depend on how its table is scrolled. */
export const selection = computed(() => pick(params.value, SELECTION_KEYS));

/** How each view's table stood when it was left, for the way back by the menu. */
const left = new Map<string, Params>();

function pick(from: Params, keys: readonly string[]): Params {
  return Object.fromEntries(keys.flatMap((key) => (from[key] ? [[key, from[key]]] : [])));
}

function merge(base: Params, patch: Patch): Params {
  const next: Record<string, string> = { ...base };
  for (const [key, value] of Object.entries(patch)) {
    if (value) next[key] = value;
    else delete next[key];
  }
  return next;
}

/** Changes the address. `push` makes a step that Back undoes; `replace` is for small changes. */
export function navigate(patch: Patch, mode: 'push' | 'replace' = 'push'): void {
  const next = merge(params.peek(), patch);
  if (same(next, params.peek())) return;
  params.value = next;
  const host = hostWindow();
  const { pathname, search, hash } = host.location;
  const url = pathname + search + writeHash(hash, next);
  if (mode === 'push') host.history.pushState(host.history.state, '', url);
  else host.history.replaceState(host.history.state, '', url);
}

/** With which `id` opens: from the menu as it was left, through a door as the door says. */
function paramsFor(id: string, patch: Patch = {}): Patch {
  const cleared = Object.fromEntries(VIEW_KEYS.map((key) => [key, null]));
  const asLeft = Object.keys(patch).length === 0 ? left.get(id) : {};
  return { ...cleared, ...asLeft, ...patch, view: id };
}

/** The view as it stands, changed: for doors that lead to another state of the same page. */
export function standing(patch: Patch): Patch {
  return { ...pick(params.value, VIEW_KEYS), ...patch };
}

export function openView(id: string, patch: Patch = {}): void {
  left.set(view.peek(), pick(params.peek(), VIEW_KEYS));
  navigate(paramsFor(id, patch));
}

/** An address for `<a href>`, so that a door can be opened in a new browser tab or copied. */
export function hrefFor(next: Params): string {
  const { origin, pathname, search, hash } = hostWindow().location;
  return `${origin}${pathname}${search}${writeHash(hash, next)}`;
}

export function hrefOf(id: string, patch: Patch = {}): string {
  return hrefFor(merge(params.value, paramsFor(id, patch)));
}

/** Takes the address over, now and whenever it changes; returns how to stop. */
export function followAddress(): () => void {
  const host = hostWindow();
  const take = () => {
    const tab = tabOf(host.location.hash);
    if (tab !== null && tab !== PLUGIN) return; // another tab's address
    const next = readHash(host.location.hash);
    if (!same(next, params.peek())) params.value = next;
  };
  take();
  host.addEventListener('popstate', take);
  host.addEventListener('hashchange', take);
  return () => {
    host.removeEventListener('popstate', take);
    host.removeEventListener('hashchange', take);
  };
}

function same(a: Params, b: Params): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
