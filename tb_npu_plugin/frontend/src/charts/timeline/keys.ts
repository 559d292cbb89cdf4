/** Which key does what. The page's list of keys is made of the same. */
import type { Drive } from './motion';

export type Command =
  | 'fit'
  | 'whole'
  | 'undo'
  | 'nextStep'
  | 'previousStep'
  | 'keys'
  | 'selectNext'
  | 'selectPrevious'
  | 'selectParent'
  | 'selectChild'
  | 'details'
  | 'clear'
  | 'search'
  | 'marker'
  | 'range'
  | 'gaps'
  | 'pageDown'
  | 'pageUp';

export type KeyAct = { drive: Drive } | { command: Command } | null;

const DRIVES: Readonly<Record<string, Drive>> = {
  w: 'in',
  s: 'out',
  a: 'left',
  d: 'right',
  '+': 'in',
  '=': 'in',
  '-': 'out',
};

const COMMANDS: Readonly<Record<string, Command>> = {
  f: 'fit',
  '0': 'whole',
  Home: 'whole',
  z: 'undo',
  u: 'undo',
  ']': 'nextStep',
  '[': 'previousStep',
  '?': 'keys',
  ArrowRight: 'selectNext',
  ArrowLeft: 'selectPrevious',
  ArrowUp: 'selectParent',
  ArrowDown: 'selectChild',
  Enter: 'details',
  Escape: 'clear',
  '/': 'search',
  m: 'marker',
  r: 'range',
  g: 'gaps',
  PageDown: 'pageDown',
  PageUp: 'pageUp',
};

type Pressed = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Letters by what they write, and where another alphabet is on, by where they lie. */
export function actOf({ key, code, ctrlKey, metaKey, altKey }: Pressed): KeyAct {
  if (ctrlKey || metaKey || altKey) return null;
  const latin = key.length === 1 && key.charCodeAt(0) > 127 && /^Key[A-Z]$/.test(code);
  const word = latin ? code.slice(3).toLowerCase() : key.length === 1 ? key.toLowerCase() : key;
  const drive = DRIVES[word];
  if (drive) return { drive };
  const command = COMMANDS[word];
  return command ? { command } : null;
}

/** For the list of keys: the keys of an act, in the order of the list. */
export const LISTED = [
  ['W S', 'zoom'],
  ['A D', 'pan'],
  ['F', 'fit'],
  ['0', 'whole'],
  ['Z', 'undo'],
  ['[ ]', 'steps'],
  ['← →', 'neighbours'],
  ['↑ ↓', 'nesting'],
  ['Enter', 'details'],
  ['R', 'range'],
  ['M', 'marker'],
  ['G', 'gaps'],
  ['/', 'search'],
  ['Esc', 'clear'],
  ['?', 'keys'],
] as const;
