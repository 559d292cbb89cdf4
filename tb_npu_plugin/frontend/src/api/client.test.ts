import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ApiError, apiUrl, GoneError, get, setApiBase } from './client';

const signal = () => new AbortController().signal;
const refused = (): Promise<ApiError> =>
  get('x', {}, signal()).then(
    () => Promise.reject(new Error('was answered')),
    (error: ApiError) => error,
  );
const answer = (body: string, status = 200) =>
  vi.stubGlobal('fetch', async () => new Response(body, { status }));

beforeEach(() => setApiBase(new URL('http://host/tb/data/plugin/npu_profiler/')));
afterEach(() => vi.unstubAllGlobals());

describe('apiUrl', () => {
  it('stays beside the module, under any path prefix', () => {
    expect(apiUrl('kernel', { run: '.', rank: '0,2', filter: 'dur>1us', offset: 0 })).toBe(
      'http://host/tb/data/plugin/npu_profiler/kernel?run=.&rank=0%2C2&filter=dur%3E1us&offset=0',
    );
  });

  it('leaves out what is not set', () => {
    expect(apiUrl('kernel', { run: '', rank: undefined, step: null })).toBe(
      'http://host/tb/data/plugin/npu_profiler/kernel',
    );
  });
});

describe('get', () => {
  it('returns a reply', async () => {
    answer('{"data":1,"meta":{}}');
    expect(await get('x', {}, signal())).toEqual({ data: 1, meta: {} });
  });

  it('keeps what the backend says about an error', async () => {
    answer('{"error":{"code":"bad-filter","message":"no","hint":"h","position":4}}', 400);
    const error = await refused();
    expect(error).toBeInstanceOf(ApiError);
    expect(error.status).toBe(400);
    expect(error.body).toEqual({ code: 'bad-filter', message: 'no', hint: 'h', position: 4 });
  });

  it.each([
    ['<html>502</html>', 502],
    ['<html>fine</html>', 200],
    ['[]', 200],
  ])('takes %s (%i) for an error', async (body, status) => {
    answer(body, status);
    const error = await refused();
    expect(error).toBeInstanceOf(ApiError);
    expect(error.body.code).toBe(`http-${status}`);
  });

  it('tells a dead backend from a refusal', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('Failed to fetch');
    });
    expect(await refused()).toBeInstanceOf(GoneError);
  });
});
