import { describe, expect, it } from 'vitest';
import { actOf } from './keys';
import { Motion } from './motion';
import { lengthOf, type Span } from './span';

const WHOLE: Span = [0, 1_000_000];

describe('held keys', () => {
  it('zoom as long as they are held, a tap at least a little', () => {
    const motion = new Motion(() => false);
    let span: Span = [0, 500_000];
    motion.press('in', 0);
    motion.release('in', 5);
    for (let now = 0; now <= 200; now += 16) span = motion.step(span, WHOLE, 250_000, now);
    expect(lengthOf(span)).toBeLessThan(400_000);
    expect(lengthOf(span)).toBeGreaterThan(300_000);
    expect(motion.moving).toBe(false);
  });

  it('go on until they are let go', () => {
    const motion = new Motion(() => false);
    let span: Span = [400_000, 500_000];
    motion.press('right', 0);
    for (let now = 0; now <= 1_000; now += 16) span = motion.step(span, WHOLE, 0, now);
    expect(motion.moving).toBe(true);
    expect(span[0]).toBeGreaterThan(480_000);
  });
});

describe('a way', () => {
  it('ends at its goal', () => {
    const motion = new Motion(() => false);
    motion.go([0, 100], [500, 600], 0);
    const half = motion.step([0, 100], WHOLE, 0, 60);
    expect(half[0]).toBeGreaterThan(0);
    expect(half[0]).toBeLessThan(500);
    expect(motion.step(half, WHOLE, 0, 1_000)).toEqual([500, 600]);
    expect(motion.moving).toBe(false);
  });

  it('is a jump for who wants no movement', () => {
    const motion = new Motion(() => true);
    motion.go([0, 100], [500, 600], 0);
    expect(motion.step([0, 100], WHOLE, 0, 1)).toEqual([500, 600]);
  });
});

describe('keys', () => {
  const press = (key: string, over = {}) =>
    actOf({ key, code: '', ctrlKey: false, metaKey: false, altKey: false, ...over });

  it('drive and command', () => {
    expect(press('w')).toEqual({ drive: 'in' });
    expect(press('D')).toEqual({ drive: 'right' });
    expect(press('[')).toEqual({ command: 'previousStep' });
    expect(press('q')).toBeNull();
  });

  it('leave the browser its own', () => {
    expect(press('f', { ctrlKey: true })).toBeNull();
    expect(press('d', { metaKey: true })).toBeNull();
  });

  it('are found where another alphabet is on', () => {
    expect(press('ц', { code: 'KeyW' })).toEqual({ drive: 'in' });
  });
});
