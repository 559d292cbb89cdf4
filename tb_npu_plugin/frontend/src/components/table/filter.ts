/** The filter's text. The backend reads it; here it is only extended and its fault shown. */
import type { Column } from '../../api/types.gen';

const EQUAL_KINDS = new Set([
  'text',
  'name',
  'core',
  'shape',
  'id',
  'rank',
  'device',
  'step',
  'int',
]);

/** A term that keeps rows like this one, or null where the grammar has none. */
export function termFor(column: Column, value: unknown): string | null {
  if (value === null || value === undefined || value === '') return `${column.key}=unknown`;
  if (typeof value === 'number' && !EQUAL_KINDS.has(column.kind)) return `${column.key}>=${value}`;
  const word = quoted(String(value));
  return word === null ? null : `${column.key}=${word}`;
}

const LONGEST = 300;

/**
 * Quotes hold blanks together, and a backslash keeps a quote inside them. The box has no way to show
 * several lines, and a link should not grow by a whole call stack.
 */
function quoted(text: string): string | null {
  if (text.length > LONGEST || /[\r\n]/.test(text)) return null;
  return /[\s"\\]/.test(text) ? inQuotes(text) : text;
}

/** As a value of the filter's grammar, whatever is in it. */
export function inQuotes(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

export function addTerm(filter: string, term: string): string {
  return hasTerm(filter, term) ? filter : `${filter.trim()} ${term}`.trim();
}

export function hasTerm(filter: string, term: string): boolean {
  return ` ${filter} `.includes(` ${term} `);
}

export function withoutTerm(filter: string, term: string): string {
  return ` ${filter} `.replace(` ${term} `, ' ').trim();
}

/** The filter cut at the character at fault. Positions count characters, not UTF-16 units. */
export interface Fault {
  before: string;
  at: string;
  after: string;
}

export function faultAt(filter: string, position: number): Fault {
  const chars = Array.from(filter);
  const at = Math.max(0, Math.min(position, chars.length));
  return {
    before: chars.slice(0, at).join(''),
    at: chars[at] ?? '',
    after: chars.slice(at + 1).join(''),
  };
}
