import { describe, expect, it } from 'vitest';
import { movedIn } from './cells';
import { deviationColours, deviationLevel, mapLayout, outlierRows } from './rankMapLayout';

describe('the map of ranks', () => {
  it('gives 8 ranks room for figures and 1,024 a line each', () => {
    expect(mapLayout(8, 10, 1100, 6).row).toBe(24);
    expect(mapLayout(64, 10, 1100, 7).row).toBe(9);
    const many = mapLayout(1024, 10, 1100, 9);
    expect(many.row).toBe(1);
    expect(many.gap).toBe(0);
    expect(many.every * many.row).toBeGreaterThanOrEqual(14);
  });

  it('stays within the page', () => {
    expect(mapLayout(8, 10, 1100, 6).width).toBeLessThanOrEqual(1100);
  });

  it('colours by distance, the median in the middle, clipped at both ends', () => {
    const colours = deviationColours(
      (token) =>
        ({ 'deviation-below': '#0000ff', 'deviation-middle': '#ffffff' })[token] ?? '#ff0000',
    );
    expect(colours[deviationLevel(0)]).toBe('#ffffff');
    expect(colours[deviationLevel(-99)]).toBe('#0000ff');
    expect(colours[deviationLevel(99)]).toBe('#ff0000');
    expect(deviationLevel(8)).toBe(colours.length - 1);
  });

  it('marks rows that stand out to either side', () => {
    expect(
      outlierRows([
        [0, null],
        [4.1, 0],
        [null, -4],
        [3.9, -3.9],
      ]),
    ).toEqual([1, 2]);
  });

  it('moves between cells and stays inside', () => {
    expect(movedIn(null, 3, 2, 'ArrowDown')).toEqual([0, 0]);
    expect(movedIn([0, 0], 3, 2, 'ArrowDown')).toEqual([1, 0]);
    expect(movedIn([2, 1], 3, 2, 'ArrowRight')).toEqual([2, 1]);
    expect(movedIn([0, 0], 3, 2, 'ArrowUp')).toEqual([0, 0]);
    expect(movedIn([0, 0], 3, 2, 'x')).toBeNull();
  });
});
