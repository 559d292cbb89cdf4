/** Made-up replies for the tests, of the shapes that the backend sends. */
import type { Column, Finding, Meta, Table } from './api/types.gen';

export const meta = (over: Partial<Meta> = {}): Meta => ({
  selection: null,
  provenance: {},
  findings: [],
  counts: {},
  state: 'ready',
  progress: 1,
  step_picker: null,
  sources: [],
  schema: 1,
  ...over,
});

export const column = (key: string, kind: Column['kind'] = 'text'): Column => ({
  key,
  kind,
  label: key,
  description: '',
  shown: true,
  sortable: true,
  concept: null,
});

export const finding = (over: Partial<Finding> = {}): Finding => ({
  id: '1',
  code: 'level-too-low',
  severity: 'warning',
  message: 'message',
  remedy: 'remedy',
  capture_id: null,
  rank: null,
  ranks: [],
  file: null,
  place: null,
  views: [],
  ...over,
});

export const table = (over: Partial<Table> = {}): Table => ({
  columns: [column('name', 'name'), column('dur_ns', 'duration')],
  values: { name: ['MatMulV2'], dur_ns: [1500] },
  total: 1,
  unfiltered: 1,
  offset: 0,
  sort: 'dur_ns:desc',
  group: '',
  groups: [],
  base_ns: null,
  ...over,
});

export interface Asked {
  route: string;
  query: URLSearchParams;
  signal: AbortSignal;
  answer: (body: unknown, status?: number) => Promise<void>;
  fail: () => Promise<void>;
}

const settle = () => new Promise<void>((resolve) => setTimeout(resolve));

/** Stands in for `fetch`: every request waits until the test answers it. */
export function fakeFetch() {
  const asked: Asked[] = [];
  const fetch = (url: string, { signal }: { signal: AbortSignal }) =>
    new Promise<Response>((resolve, reject) => {
      const { pathname, searchParams } = new URL(url);
      asked.push({
        route: pathname.split('/').pop() ?? '',
        query: searchParams,
        signal,
        answer: (body, status = 200) => {
          resolve(new Response(JSON.stringify(body), { status }));
          return settle();
        },
        fail: () => {
          reject(new TypeError('Failed to fetch'));
          return settle();
        },
      });
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    });
  const last = (route: string) => {
    const found = asked.filter((each) => each.route === route).pop();
    if (!found) throw new Error(`${route} was not asked for`);
    return found;
  };
  return { asked, fetch, last };
}
