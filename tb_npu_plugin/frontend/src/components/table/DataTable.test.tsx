import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KernelReply, Meta, Table } from '../../api/types.gen';
import { params } from '../../state/route';
import { fakeFetch, finding, meta, table } from '../../testing';
import { DataTable } from './DataTable';

const root = document.createElement('div');
document.body.append(root);
let server = fakeFetch();

const reply = (over: Partial<Table> = {}, metaOver: Partial<Meta> = {}): KernelReply => ({
  data: { table: table(over), note: '' },
  meta: meta(metaOver),
});
const draw = () =>
  act(() =>
    render(
      <DataTable<KernelReply> view="kernel" tableOf={(r) => r.data.table} title="Kernels" />,
      root,
    ),
  );
const answer = (body: unknown, status = 200) =>
  act(() => server.last('kernel').answer(body, status));
const find = (selector: string) => root.querySelector<HTMLElement>(selector);

beforeEach(() => {
  server = fakeFetch();
  vi.stubGlobal('fetch', server.fetch);
  params.value = { view: 'kernel' };
});
afterEach(() => {
  act(() => render(null, root));
  vi.unstubAllGlobals();
});

describe('DataTable', () => {
  it('asks for what the address says', async () => {
    params.value = { view: 'kernel', rank: '0,2', filter: 'Mat', sort: 'name', offset: '250' };
    await draw();
    const { query } = server.last('kernel');
    expect(Object.fromEntries(query)).toEqual({
      rank: '0,2',
      lang: 'en',
      sort: 'name',
      filter: 'Mat',
      offset: '200',
      limit: '100',
    });
  });

  it('draws the rows it was given', async () => {
    await draw();
    await answer(reply());
    expect(find('.row')?.textContent).toContain('MatMulV2');
    expect(find('[aria-sort=descending]')?.textContent).toContain('dur_ns');
  });

  it('shows text of a file as text', async () => {
    await draw();
    await answer(reply({ values: { name: ['<img src=x onerror=alert(1)>\u202e'], dur_ns: [1] } }));
    expect(root.querySelector('.row img')).toBeNull();
    expect(find('.row')?.textContent).toContain('<img src=x onerror=alert(1)>⟨U+202E⟩');
  });

  it('sorts through the address, from the top', async () => {
    params.value = { view: 'kernel', offset: '100' };
    await draw();
    await answer(reply({ total: 500, unfiltered: 500, offset: 100 }));
    await act(() => find('.head-cell button')?.click());
    expect(params.value).toEqual({ view: 'kernel', sort: 'name' });
    expect(server.last('kernel').query.get('sort')).toBe('name');
    expect(server.last('kernel').query.get('offset')).toBe('0');
  });

  it('keeps the rows and points at the character when the filter is bad', async () => {
    await draw();
    await answer(reply());
    await act(() => {
      params.value = { view: 'kernel', filter: 'durr>1us' };
    });
    const error = { code: 'bad-filter', message: 'No column durr', hint: '', position: 0 };
    await answer({ error }, 400);
    expect(find('.filter-error')?.textContent).toContain('No column durr');
    expect(find('.row')?.textContent).toContain('MatMulV2');
  });

  it('links the CSV of the whole table', async () => {
    params.value = { view: 'kernel', filter: 'Mat' };
    await draw();
    await answer(reply());
    const href = new URL(find('a[download]')?.getAttribute('href') ?? '');
    expect(Object.fromEntries(href.searchParams)).toEqual({
      lang: 'en',
      filter: 'Mat',
      format: 'csv',
    });
  });

  it.each([
    ['No row matches the filter', { total: 0, unfiltered: 9 }, {}],
    ['0 kernels recorded', { total: 0, unfiltered: 0 }, {}],
    ['Not captured', { total: 0, unfiltered: 0, columns: [] }, {}],
    [
      'Not captured',
      { total: 0, unfiltered: 0 },
      { findings: [finding({ message: 'Level0 has no kernels', remedy: 'Use Level1' })] },
    ],
  ])('tells why it is empty: %s', async (title, rows, about) => {
    await draw();
    await answer(reply({ ...rows, values: { name: [], dur_ns: [] } }, about));
    expect(find('.notice h2')?.textContent).toBe(title);
    if ('findings' in about) expect(find('.notice')?.textContent).toContain('Use Level1');
  });

  it('says what went wrong and offers another try', async () => {
    await draw();
    await answer(
      { error: { code: 'x', message: 'Out of memory', hint: 'More', position: null } },
      500,
    );
    expect(find('.notice')?.textContent).toContain('Out of memory');
    expect(find('.notice button')).not.toBeNull();
  });
});
