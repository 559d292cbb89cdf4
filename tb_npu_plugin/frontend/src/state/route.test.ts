import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followAddress, hrefOf, navigate, openView, params, selection, view } from './route';

let stop = () => {};

beforeEach(() => {
  window.history.replaceState(null, '', '/?darkMode=true#npu_profiler&p.scalars.x=1');
  params.value = {};
  stop = followAddress();
});
afterEach(() => stop());

describe('the address', () => {
  it('is taken over on the first load', () => {
    stop();
    window.history.replaceState(
      null,
      '',
      '/#npu_profiler&p.npu_profiler.view=kernel&p.npu_profiler.rank=3',
    );
    stop = followAddress();
    expect(view.value).toBe('kernel');
    expect(selection.value).toEqual({ rank: '3' });
  });

  it('carries every change and keeps the rest', () => {
    navigate({ view: 'step', rank: '0,2' });
    expect(window.location.search).toBe('?darkMode=true');
    expect(window.location.hash).toBe(
      '#npu_profiler&p.scalars.x=1&p.npu_profiler.view=step&p.npu_profiler.rank=0,2',
    );
  });

  it('makes one history entry for a view and none for a scroll', () => {
    const before = window.history.length;
    navigate({ offset: '100' }, 'replace');
    expect(window.history.length).toBe(before);
    openView('kernel');
    expect(window.history.length).toBe(before + 1);
    openView('kernel');
    expect(window.history.length).toBe(before + 1);
  });

  it('follows Back', () => {
    navigate({ view: 'step' });
    window.history.replaceState(null, '', '/#npu_profiler&p.npu_profiler.view=health');
    window.dispatchEvent(new Event('popstate'));
    expect(view.value).toBe('health');
  });

  it("ignores another tab's address", () => {
    navigate({ view: 'step' });
    window.history.replaceState(null, '', '/#scalars');
    window.dispatchEvent(new Event('hashchange'));
    expect(view.value).toBe('step');
  });
});

describe('opening a view', () => {
  it('puts the table of the view that is left aside, and brings it back', () => {
    navigate({ view: 'kernel', rank: '1', filter: 'MatMul', sort: 'dur_ns:desc' });
    openView('step');
    expect(params.value).toEqual({ view: 'step', rank: '1' });
    openView('kernel');
    expect(params.value).toEqual({
      view: 'kernel',
      rank: '1',
      filter: 'MatMul',
      sort: 'dur_ns:desc',
    });
  });

  it('opens a door with exactly what the door says', () => {
    navigate({ view: 'kernel', filter: 'MatMul' });
    openView('overview');
    openView('kernel', { filter: 'type=Add' });
    expect(params.value).toEqual({ view: 'kernel', filter: 'type=Add' });
  });

  it('has an address of its own', () => {
    navigate({ view: 'overview', run: 'a' });
    expect(hrefOf('kernel', { rank: '2' })).toContain(
      '#npu_profiler&p.scalars.x=1&p.npu_profiler.view=kernel&p.npu_profiler.run=a&p.npu_profiler.rank=2',
    );
  });
});
