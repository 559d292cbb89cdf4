/** The door of the plugin: TensorBoard imports this module in an iframe of ours and calls `render`. */
import { effect } from '@preact/signals';
import { render as draw, h } from 'preact';
import { setApiBase } from './api/client';
import { App } from './app/App';
import { VIEWS } from './app/registry';
import { chooseLang, lang } from './i18n';
import { declareViews } from './state/known';
import { followAddress, params } from './state/route';
import { reload, startSession } from './state/session';
import { onTensorBoardReload } from './state/tensorboard';
import { followTheme } from './state/theme';
import { adoptStyles } from './styles';

export function render(): void {
  // The API's routes are siblings of `static/`, in which this module lies.
  setApiBase(new URL(/* @vite-ignore */ '../', import.meta.url));
  declareViews(VIEWS.map((view) => view.id));
  adoptStyles();
  const stops = [followTheme(), followAddress()];
  effect(() => {
    lang.value = chooseLang(params.value.lang);
    document.documentElement.lang = lang.value === 'zh' ? 'zh-CN' : 'en';
  });
  draw(h(App, null), document.body);
  stops.push(startSession());
  onTensorBoardReload(reload);
  // The parent outlives this frame: it must not go on calling it.
  window.addEventListener('pagehide', () => {
    for (const stop of stops) stop();
  });
  // Restored from the browser's page cache, its listeners are gone.
  window.addEventListener('pageshow', (event) => {
    if (event.persisted) window.location.reload();
  });
}
