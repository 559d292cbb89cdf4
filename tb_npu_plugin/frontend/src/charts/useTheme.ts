/** The theme's name, for canvases: they read their colours when they draw. */
import { useEffect, useState } from 'preact/hooks';

export function useTheme(): string {
  const read = () => document.documentElement.dataset.theme ?? 'light';
  const [theme, setTheme] = useState(read);
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(read()));
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => observer.disconnect();
  }, []);
  return theme;
}
