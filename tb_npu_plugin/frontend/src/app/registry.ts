/** The views, in the order of the menu. A new one is a line here and a folder in `views/`. */
import type { ComponentType } from 'preact';
import type { IconName } from '../components/Icon';
import type { Dictionary } from '../i18n/types';

export interface View {
  id: keyof Dictionary['views'];
  group: keyof Dictionary['groups'];
  icon: IconName;
  load: () => Promise<{ default: ComponentType }>;
}

export const VIEWS: readonly View[] = [
  { id: 'overview', group: 'look', icon: 'overview', load: () => import('../views/overview') },
  { id: 'step', group: 'look', icon: 'step', load: () => import('../views/step') },
  {
    id: 'timeline',
    group: 'look',
    icon: 'timeline',
    load: () => import('../views/timeline'),
  },
  { id: 'operator', group: 'look', icon: 'operator', load: () => import('../views/operator') },
  { id: 'kernel', group: 'look', icon: 'kernel', load: () => import('../views/kernel') },
  { id: 'api', group: 'look', icon: 'api', load: () => import('../views/api') },
  { id: 'memory', group: 'look', icon: 'memory', load: () => import('../views/memory') },
  {
    id: 'communication',
    group: 'look',
    icon: 'communication',
    load: () => import('../views/communication'),
  },
  { id: 'ranks', group: 'compare', icon: 'ranks', load: () => import('../views/ranks') },
  { id: 'flame', group: 'understand', icon: 'flame', load: () => import('../views/flame') },
  { id: 'health', group: 'capture', icon: 'health', load: () => import('../views/health') },
  { id: 'files', group: 'capture', icon: 'files', load: () => import('../views/files') },
];

export const GROUPS: readonly View['group'][] = ['look', 'compare', 'understand', 'capture'];

export function viewOf(id: string): View | undefined {
  return VIEWS.find((view) => view.id === id);
}
