import { describe, expect, it } from 'vitest';
import { readHash, tabOf, writeHash } from './hash';

/** How TensorBoard 2.21 reads its hash (tf_storage). */
function tensorboardReads(hash: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const token of hash.slice(1).split('&')) {
    const kv = token.split('=');
    if (kv.length === 1) out.__tab__ = kv[0] as string;
    else if (kv.length === 2)
      out[decodeURIComponent(kv[0] as string)] = decodeURIComponent(kv[1] as string);
  }
  return out;
}

describe('hash state', () => {
  it('reads only our own keys', () => {
    const hash = '#npu_profiler&p.scalars.x=1&p.npu_profiler.view=kernel&p.npu_profiler.rank=0,2';
    expect(readHash(hash)).toEqual({ view: 'kernel', rank: '0,2' });
    expect(tabOf(hash)).toBe('npu_profiler');
  });

  it('keeps the tab and the other plugins', () => {
    const hash = '#scalars&p.scalars.x=a%20b&p.npu_profiler.view=step&run=1';
    expect(writeHash(hash, { view: 'kernel' })).toBe(
      '#scalars&p.scalars.x=a%20b&run=1&p.npu_profiler.view=kernel',
    );
  });

  it.each(['dur>100us name="a b" /x&y=z%/', '算子 core=向量', 'a=b&c=d#e', '100%', '卡 0 / run:1'])(
    'brings %s back, here and in TensorBoard',
    (filter) => {
      const hash = writeHash('', { filter, run: '.' });
      expect(readHash(hash)).toEqual({ filter, run: '.' });
      expect(tensorboardReads(hash)).toEqual({
        __tab__: 'npu_profiler',
        'p.npu_profiler.filter': filter,
        'p.npu_profiler.run': '.',
      });
    },
  );

  it('names the tab when the address names none', () => {
    expect(writeHash('', { view: 'step' })).toBe('#npu_profiler&p.npu_profiler.view=step');
    expect(tabOf('')).toBeNull();
  });

  it('drops empty values', () => {
    expect(writeHash('#npu_profiler', { view: '', rank: '1' })).toBe(
      '#npu_profiler&p.npu_profiler.rank=1',
    );
  });

  it('survives a broken escape', () => {
    expect(readHash('#npu_profiler&p.npu_profiler.filter=100%')).toEqual({ filter: '100%' });
  });
});
