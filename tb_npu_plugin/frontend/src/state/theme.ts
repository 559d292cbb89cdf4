/** Light or dark, as TensorBoard is: it tells its plugins nothing, but its body carries a class. */
import { hostWindow } from './host';

export function followTheme(): () => void {
  const host = hostWindow();
  return host === window ? followSystem() : followBody(host.document.body);
}

function paint(dark: boolean): void {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
}

function followBody(body: HTMLElement): () => void {
  const read = () => paint(body.classList.contains('dark-mode'));
  read();
  const observer = new MutationObserver(read);
  observer.observe(body, { attributes: true, attributeFilter: ['class'] });
  return () => observer.disconnect();
}

function followSystem(): () => void {
  const query = window.matchMedia('(prefers-color-scheme: dark)');
  const read = () => paint(query.matches);
  read();
  query.addEventListener('change', read);
  return () => query.removeEventListener('change', read);
}
