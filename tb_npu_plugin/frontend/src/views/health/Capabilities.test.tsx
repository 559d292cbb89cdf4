import { render } from 'preact';
import { describe, expect, it } from 'vitest';
import type { Capability } from '../../api/types.gen';
import { Capabilities } from './Capabilities';

const part = (over: Partial<Capability>): Capability => ({
  key: 'api',
  view: 'api',
  label: 'Host API',
  status: 'missing',
  cases: [],
  ...over,
});

const own = (ranks: number[], reason: string, remedy = '') => ({
  status: 'missing' as const,
  where: 'api_statistic.csv',
  reason,
  remedy,
  ranks,
  capture_ids: [],
});

function drawn(parts: Capability[]): HTMLElement {
  const root = document.createElement('div');
  render(<Capabilities parts={parts} />, root);
  return root;
}

describe('what the views can show', () => {
  it('says why a part is missing and offers the setting', () => {
    const root = drawn([part({ cases: [own([0, 1], 'There is no file.', 'level=1')] })]);
    expect(root.textContent).toContain('missing');
    expect(root.textContent).toContain('There is no file.');
    expect(root.querySelector('.finding-remedy')?.textContent).toContain('level=1');
    expect(root.querySelector('.finding-remedy button')).not.toBeNull();
    expect(root.textContent).not.toContain('0, 1');
  });

  it('names the ranks where they differ', () => {
    const cases = [
      own([1, 2], 'There is no file.'),
      { ...own([0], ''), status: 'available' as const },
    ];
    const root = drawn([part({ status: 'partial', cases })]);
    expect(root.textContent).toContain('1, 2');
    expect(root.querySelectorAll('.finding-message')).toHaveLength(1);
  });

  it('draws nothing where nothing is known', () => {
    expect(drawn([]).innerHTML).toBe('');
  });

  it('shows hostile words as text', () => {
    const root = drawn([part({ cases: [own([0], '<img src=x onerror=1>')] })]);
    expect(root.querySelector('img')).toBeNull();
  });
});
