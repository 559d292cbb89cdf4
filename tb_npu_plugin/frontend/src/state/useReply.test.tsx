import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KernelReply } from '../api/types.gen';
import { fakeFetch, meta, table } from '../testing';
import { reload } from './session';
import { useReply } from './useReply';

const root = document.createElement('div');
let server = fakeFetch();

beforeEach(() => {
  server = fakeFetch();
  vi.stubGlobal('fetch', server.fetch);
});
afterEach(() => {
  render(null, root);
  vi.unstubAllGlobals();
});

function Show({ filter }: { filter: string }) {
  const { reply, error, stale } = useReply<KernelReply>('kernel', { filter });
  return (
    <p>
      {reply?.data.note ?? '-'} {error?.message ?? ''} {stale ? 'stale' : ''}
    </p>
  );
}
const ask = (filter: string) => act(() => render(<Show filter={filter} />, root));
const text = () => root.textContent?.trim();
const reply = (note: string) => ({ data: { table: table(), note }, meta: meta() });

describe('useReply', () => {
  it('never lets a stale reply win', async () => {
    await ask('old');
    const old = server.last('kernel');
    await ask('new');
    const recent = server.last('kernel');
    await act(() => recent.answer(reply('new')));
    await act(() => old.answer(reply('old')));
    expect(old.signal.aborted).toBe(true);
    expect(text()).toBe('new');
  });

  it('keeps what is shown while the next answer is awaited, but not when it is a refusal', async () => {
    await ask('a');
    await act(() => server.last('kernel').answer(reply('a')));
    await ask('b');
    expect(text()).toBe('a  stale');
    const error = { code: 'bad-filter', message: 'no', hint: '', position: 0 };
    await act(() => server.last('kernel').answer({ error }, 400));
    expect(text()).toBe('- no stale');
  });

  it('keeps what is shown when the same question fails later', async () => {
    await ask('a');
    await act(() => server.last('kernel').answer(reply('a')));
    await act(() => reload());
    const error = { code: 'x', message: 'no', hint: '', position: null };
    await act(() => server.last('kernel').answer({ error }, 500));
    expect(text()).toBe('a no');
  });

  it('lets a slow answer arrive before it asks the same again', async () => {
    await ask('a');
    const first = server.last('kernel');
    await act(() => reload());
    expect(server.last('kernel')).toBe(first);
    await act(() => first.answer(reply('1')));
    expect(text()).toBe('1');
    await act(() => server.last('kernel').answer(reply('2')));
    expect(text()).toBe('2');
  });

  it('ignores the error of a question that nobody asks any more', async () => {
    await ask('a');
    const old = server.last('kernel');
    await ask('b');
    await act(() => old.fail());
    await act(() => server.last('kernel').answer(reply('b')));
    expect(text()).toBe('b');
  });
});
