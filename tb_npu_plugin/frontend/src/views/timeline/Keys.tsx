/** All keys and gestures, over the page until they are read. */
import { useEffect, useRef } from 'preact/hooks';
import { LISTED } from '../../charts/timeline/keys';
import { Icon } from '../../components/Icon';
import { t } from '../../i18n';

export function Keys({ onClose }: { onClose: () => void }) {
  const words = t.value.timeline;
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current?.focus(), []);
  return (
    <div
      class="tl-keys"
      role="dialog"
      aria-modal="true"
      aria-label={words.keys}
      tabIndex={-1}
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' && event.key !== '?') return;
        event.stopPropagation();
        onClose();
      }}
    >
      <header class="card-head">
        <h2>{words.keys}</h2>
        <button
          type="button"
          class="icon-button"
          title={t.value.close}
          aria-label={t.value.close}
          onClick={onClose}
        >
          <Icon name="close" />
        </button>
      </header>
      <div class="tl-keys-columns">
        <dl>
          {LISTED.map(([keys, act]) => (
            <div key={act}>
              <dt>
                {keys.split(' ').map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{words.acts[act]}</dd>
            </div>
          ))}
        </dl>
        <dl>
          {words.pointer.map(([gesture, act]) => (
            <div key={gesture}>
              <dt>{gesture}</dt>
              <dd>{act}</dd>
            </div>
          ))}
        </dl>
      </div>
    </div>
  );
}
