import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fakeFetch, meta } from '../testing';
import { captures, gone, progress, publishMeta, startSession, version } from './session';

let server = fakeFetch();
let stop = () => {};
let height = 900;

const tick = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const progressReply = (at: number, state = 'idle') => ({
  data: { version: at, state, progress: 1, jobs: [] },
  meta: meta(),
});
const capturesReply = (at: number) => ({
  data: { runs: [], scanning: false, searched: ['runs'], version: at },
  meta: meta(),
});
async function answer(at: number, state = 'idle') {
  void server.last('progress').answer(progressReply(at, state));
  await tick(1);
}
async function answerCaptures(at: number) {
  void server.last('captures').answer(capturesReply(at));
  await tick(1);
}
const count = (route: string) => server.asked.filter((each) => each.route === route).length;

beforeEach(() => {
  vi.useFakeTimers();
  server = fakeFetch();
  height = 900;
  vi.stubGlobal('fetch', server.fetch);
  vi.spyOn(window, 'innerHeight', 'get').mockImplementation(() => height);
  captures.value = null;
  progress.value = null;
  gone.value = false;
  stop = startSession();
});
afterEach(() => {
  stop();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

describe('polling', () => {
  it('asks every 2 s while something runs and every 15 s when idle', async () => {
    await answer(1, 'ingesting');
    await answerCaptures(1);
    await tick(2_000);
    expect(count('progress')).toBe(2);
    await answer(1, 'idle');
    await tick(10_000);
    expect(count('progress')).toBe(2);
    await tick(5_000);
    expect(count('progress')).toBe(3);
  });

  it('looks soon when a view has a file read that nobody had asked for', async () => {
    await answer(1);
    await answerCaptures(1);
    await tick(1_000);
    publishMeta({ ...meta(), state: 'ingesting' });
    await tick(500);
    expect(count('progress')).toBe(2);
    await answer(1, 'ingesting');
    await tick(500);
    expect(count('progress')).toBe(3);
    // A view that says so again has no more looks for it.
    publishMeta({ ...meta(), state: 'ingesting' });
    for (let look = 0; look < 4; look++) {
      await answer(1, 'ingesting');
      await tick(500);
    }
    expect(count('progress')).toBe(7);
    await answer(1, 'ingesting');
    await tick(1_500);
    expect(count('progress')).toBe(7);
    await tick(500);
    expect(count('progress')).toBe(8);
  });

  it('fetches the captures again only when the version moves, and tells the views', async () => {
    await answer(1);
    await answerCaptures(1);
    const before = version.value;
    await tick(15_000);
    await answer(1);
    expect(count('captures')).toBe(1);
    expect(version.value).toBe(before);
    await tick(15_000);
    await answer(2);
    await answerCaptures(2);
    expect(count('captures')).toBe(2);
    expect(version.value).not.toBe(before);
  });

  it('rests while the tab is hidden and wakes with it', async () => {
    await answer(1, 'ingesting');
    height = 0;
    await answerCaptures(1);
    await tick(60_000);
    expect(count('progress')).toBe(1);
    height = 900;
    window.dispatchEvent(new Event('resize'));
    expect(count('progress')).toBe(2);
  });

  it('says when nobody answers, tries again, and has the views fetch what they missed', async () => {
    await answer(1);
    await answerCaptures(1);
    const before = version.value;
    await tick(15_000);
    void server.last('progress').fail();
    await tick(1);
    expect(gone.value).toBe(true);
    await tick(3_000);
    await answer(1);
    expect(gone.value).toBe(false);
    expect(version.value).not.toBe(before);
  });

  it('stops', async () => {
    await answer(1);
    await answerCaptures(1);
    stop();
    await tick(60_000);
    expect(count('progress')).toBe(1);
  });
});
