/**
 * The page around us. TensorBoard shows a plugin in an unsandboxed iframe of the same origin and
 * has no message for the address or the theme, so both are read from the parent directly.
 */

/** TensorBoard's window, or our own when the page stands alone (or the parent is out of reach). */
export function hostWindow(): Window {
  try {
    if (window.parent !== window && typeof window.parent.location.hash === 'string') {
      return window.parent;
    }
  } catch {
    // A parent of another origin: we keep our state in our own address.
  }
  return window;
}

/** Another tab is chosen (TensorBoard gives its frame no height), or the browser's tab is hidden. */
export function isHidden(): boolean {
  return window.innerHeight === 0 || document.visibilityState === 'hidden';
}

/** Calls `wake` whenever the page may have become visible; returns how to stop. */
export function onWake(wake: () => void): () => void {
  const check = () => {
    if (!isHidden()) wake();
  };
  window.addEventListener('resize', check);
  document.addEventListener('visibilitychange', check);
  return () => {
    window.removeEventListener('resize', check);
    document.removeEventListener('visibilitychange', check);
  };
}
