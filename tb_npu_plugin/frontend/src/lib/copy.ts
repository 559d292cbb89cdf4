/**
 * Puts `text` on the clipboard. `navigator.clipboard` exists only on https and localhost, while
 * TensorBoard is mostly read over plain http from another machine: hence the older way as well.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const active = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.style.cssText = 'position:fixed;opacity:0;top:0;left:0';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (active instanceof HTMLElement) active.focus();
  return done;
}
