/** Markers: where they are, what is noted on them. */
import type { Marker } from '../../charts/timeline/overlay';
import { longTime } from '../../charts/timeline/ruler';
import { kept } from '../../charts/timeline/span';
import { Icon } from '../../components/Icon';
import { Popover } from '../../components/Popover';
import { t } from '../../i18n';
import { navigate } from '../../state/route';
import { formatMarks } from './link';
import type { Board } from './useBoard';
import { mark } from './useKeys';

const write = (markers: readonly Marker[]) => navigate({ marks: formatMarks(markers) }, 'replace');

export function Marks({ board }: { board: Board }) {
  const words = t.value.timeline;
  const { markers, stage, whole } = board;
  const label = markers.length > 0 ? `${words.marks} ${markers.length}` : words.marks;
  return (
    <Popover label={label} width={340}>
      {() => (
        <>
          {markers.map((marker, at) => (
            <div key={`${marker.time}.${at}`} class="tl-mark">
              <button
                type="button"
                class="link"
                title={words.go}
                onClick={() => {
                  const { current } = stage;
                  if (!current) return;
                  const half = (current.span[1] - current.span[0]) / 2;
                  current.show(kept([marker.time - half, marker.time + half], whole));
                }}
              >
                {longTime(marker.time)}
              </button>
              <input
                class="input"
                value={marker.note}
                placeholder={words.note}
                aria-label={`${words.note} ${longTime(marker.time)}`}
                onChange={(event) => {
                  const note = event.currentTarget.value;
                  write(markers.map((each, i) => (i === at ? { ...each, note } : each)));
                }}
              />
              <button
                type="button"
                class="icon-button"
                title={words.remove}
                aria-label={words.remove}
                onClick={() => write(markers.filter((_, i) => i !== at))}
              >
                <Icon name="close" />
              </button>
            </div>
          ))}
          <button
            type="button"
            class="button"
            onClick={() => {
              const { current } = stage;
              if (current) mark(board, (current.span[0] + current.span[1]) / 2);
            }}
          >
            <Icon name="flag" /> {words.addMark}
          </button>
          <p class="quiet">{words.marksHint}</p>
        </>
      )}
    </Popover>
  );
}
