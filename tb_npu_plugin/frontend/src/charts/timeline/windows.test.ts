import { describe, expect, it } from 'vitest';
import { packWindow } from '../../testing.timeline';
import { type Wanted, type WindowQuery, Windows, wider } from './windows';

const WHOLE = [0, 1_000_000] as const;
const WANTED: Wanted = {
  span: [400_000, 500_000],
  whole: WHOLE,
  width: 1_000,
  tracks: [1, 2],
  key: 'name',
  query: { colour: 'name' },
};

type Asked = WindowQuery & { signal: AbortSignal; answer: () => Promise<void> };

function server(count = 2) {
  const asked: Asked[] = [];
  let arrived = 0;
  const windows = new Windows(
    (query, signal) =>
      new Promise((resolve) => {
        const answer = () => {
          const ids = query.tracks.split(',').flatMap((text) => {
            const [first = 0, last = first] = text.split('-').map(Number);
            return Array.from({ length: last - first + 1 }, (_, at) => first + at);
          });
          resolve(
            packWindow({
              from: query.from,
              to: query.to,
              tick: 1,
              lanes: ids.map((track) => ({
                track,
                depth: 0,
                items: [{ start: 5, length: 10, name: 'a', row: 1, count }],
              })),
            }),
          );
          return new Promise<void>((done) => setTimeout(done));
        };
        asked.push({ ...query, signal, answer });
      }),
    () => {
      arrived++;
    },
    (error) => {
      throw error;
    },
  );
  return { asked, windows, arrived: () => arrived };
}

describe('windows', () => {
  it('are asked for with half a screen on either side, and need nothing for a small pan', async () => {
    const { asked, windows } = server();
    windows.want(WANTED);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ from: 350_000, to: 550_000, width: 2_000, tracks: '1,2' });
    await asked[0]?.answer();
    windows.want({ ...WANTED, span: [440_000, 540_000] });
    expect(asked).toHaveLength(1);
    windows.want({ ...WANTED, span: [460_000, 560_000] });
    expect(asked).toHaveLength(2);
  });

  it('are asked for tracks that are new on screen only', async () => {
    const { asked, windows } = server();
    windows.want(WANTED);
    await asked[0]?.answer();
    windows.want({ ...WANTED, tracks: [2, 3] });
    expect(asked[1]?.tracks).toBe('3');
  });

  it('are asked anew for another scale or colour, and the old stands in until then', async () => {
    const { asked, windows } = server();
    windows.want(WANTED);
    await asked[0]?.answer();
    windows.want({ ...WANTED, span: [440_000, 460_000] });
    expect(asked).toHaveLength(2);
    windows.want({ ...WANTED, key: 'step' });
    expect(asked).toHaveLength(3);
    expect(windows.best(1, [440_000, 460_000], 1_000, 'step')?.from).toBe(350_000);
    expect(windows.best(9, [440_000, 460_000], 1_000, 'step')).toBeNull();
  });

  it('with every slice single serve any closer look', async () => {
    const { asked, windows } = server(1);
    windows.want(WANTED);
    await asked[0]?.answer();
    windows.want({ ...WANTED, span: [447_000, 451_000] });
    expect(asked).toHaveLength(1);
  });

  it('that nobody waits for any more are cancelled', () => {
    const { asked, windows } = server();
    windows.want(WANTED);
    windows.want({ ...WANTED, span: [0, 10_000] });
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(asked[1]?.signal.aborted).toBe(false);
  });

  it('the one whose scale is nearest is drawn, and going back is at once', async () => {
    const { asked, windows } = server();
    windows.want(WANTED);
    await asked[0]?.answer();
    windows.want({ ...WANTED, span: [440_000, 450_000] });
    await asked[1]?.answer();
    expect(windows.best(1, [440_000, 450_000], 1_000, 'name')?.from).toBe(435_000);
    expect(windows.best(1, WANTED.span, 1_000, 'name')?.from).toBe(350_000);
    windows.want(WANTED);
    expect(asked).toHaveLength(2);
  });
});

it('nothing is asked for beyond the ends', () => {
  expect(wider([-20_000, 1_020_000], WHOLE)).toEqual([0, 1_000_000]);
});
