/** A word at the foot of the page about what a key just did. */
import { signal } from '@preact/signals';

const said = signal('');
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string): void {
  said.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => {
    said.value = '';
  }, 1_500);
}

export function Toast() {
  return (
    <div class={`toast${said.value ? ' toast-on' : ''}`} role="status">
      {said.value}
    </div>
  );
}
