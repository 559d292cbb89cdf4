import { render } from 'preact';
import { act } from 'preact/test-utils';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { followAddress, navigate, params } from '../../state/route';
import { movedBy, useOtherSelection } from './useOtherSelection';

it('the times of a link move with the first event', () => {
  expect(movedBy({ w: '100-200', marks: '5:a;9:b' }, 50)).toEqual({
    w: '150-250',
    range: null,
    marks: '55:a;59:b',
  });
});

const root = document.createElement('div');
const LINK = { view: 'timeline', rank: '0,5', slice: '1-2', pin: '10001' };
let stop = () => {};

function Shown() {
  useOtherSelection('0');
  return null;
}

beforeEach(() => {
  window.history.replaceState(null, '', '/#npu_profiler');
  params.value = {};
  stop = followAddress();
  navigate(LINK);
  return act(() => render(<Shown />, root));
});
afterEach(() => {
  render(null, root);
  stop();
});

/** Once signals have had the component rendered; its effects wait for the paint. */
const rendered = () => new Promise((done) => setTimeout(done, 0));
const painted = () => new Promise((done) => setTimeout(done, 200));

describe('other ranks', () => {
  it('put aside what is numbered within the selection', async () => {
    await act(() => navigate({ rank: '0,3,5' }));
    expect(params.value).toEqual({ view: 'timeline', rank: '0,3,5' });
  });

  it('leave alone what came with them', async () => {
    await act(() => navigate({ rank: '3', slice: '7-1', pin: '' }));
    expect(params.value).toEqual({ view: 'timeline', rank: '3', slice: '7-1' });
  });

  it('leave alone what Back brings, however early', async () => {
    await act(() => navigate({ rank: '0,3,5' }));
    navigate({ colour: 'step' }, 'replace');
    await rendered();
    navigate(LINK);
    navigate({ colour: null }, 'replace');
    await painted();
    expect(params.value).toEqual(LINK);
  });

  it('leave alone what Back brings before the choice was painted', async () => {
    navigate({ rank: '0,3,5' });
    await rendered();
    navigate(LINK);
    await painted();
    expect(params.value).toEqual(LINK);
  });
});
