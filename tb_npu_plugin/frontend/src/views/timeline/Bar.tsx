/** Above the tracks: what to find, how it is coloured and aligned, where to go. */
import { apiUrl } from '../../api/client';
import { around } from '../../charts/timeline/span';
import { Icon } from '../../components/Icon';
import { OptionList } from '../../components/OptionList';
import { Popover } from '../../components/Popover';
import { t } from '../../i18n';
import { formatDuration } from '../../lib/format';
import { selectionQuery } from '../../state/query';
import { navigate, params } from '../../state/route';
import { formatShifts, parseSpan } from './link';
import { Marks } from './Marks';
import { alignmentOf } from './model';
import { savePicture } from './picture';
import { Search } from './Search';
import type { Board } from './useBoard';

interface Props {
  board: Board;
  boxing: boolean;
  setBoxing: (on: boolean) => void;
  onKeys: () => void;
}

export function Bar({ board, boxing, setBoxing, onKeys }: Props) {
  const words = t.value.timeline;
  const { data, colour, steps, stage, whole } = board;
  const alignment = alignmentOf(data, params.value.align);
  return (
    <div class="tl-bar">
      <Search board={board} />
      <Popover
        caption={words.colour}
        label={data.colours.find((each) => each.id === colour)?.label ?? colour}
        width={180}
      >
        {(close) => (
          <OptionList
            value={colour}
            options={data.colours.map((each) => ({ value: each.id, text: each.label }))}
            onChoose={(next) => {
              navigate({ colour: next === 'name' ? null : next }, 'replace');
              close();
            }}
          />
        )}
      </Popover>
      {data.ranks.length > 1 && data.alignments.length > 0 && (
        <Popover caption={words.align} label={alignment?.label ?? ''} width={260}>
          {(close) => (
            <OptionList
              value={alignment?.id ?? null}
              options={data.alignments.map((each) => ({ value: each.id, text: each.label }))}
              onChoose={(next) => {
                navigate({ align: next === data.alignments[0]?.id ? null : next }, 'replace');
                close();
              }}
            />
          )}
        </Popover>
      )}
      {steps.length > 0 && (
        <Popover label={words.step} title={words.steps} width={220}>
          {(close) => (
            <OptionList
              value={null}
              options={steps.map((step, at) => ({
                value: String(at),
                text: step.name,
                note: formatDuration(step.end - step.start),
              }))}
              onChoose={(chosen) => {
                const step = steps[Number(chosen)];
                if (step) stage.current?.show(around([step.start, step.end], whole, 0.03));
                close();
              }}
            />
          )}
        </Popover>
      )}
      <span class="spacer" />
      <span class="tl-tools">
        <button
          type="button"
          class="icon-button"
          title={words.undo}
          aria-label={words.undo}
          onClick={() => stage.current?.undo()}
        >
          <Icon name="undo" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-pressed={boxing}
          title={`${words.box}. ${words.boxHint}`}
          aria-label={words.box}
          onClick={() => setBoxing(!boxing)}
        >
          <Icon name="box" />
        </button>
      </span>
      <button type="button" class="button" onClick={() => stage.current?.show(whole)}>
        {words.whole}
      </button>
      <Marks board={board} />
      <More board={board} />
      <button
        type="button"
        class="button tl-help"
        title={words.keys}
        aria-label={words.keys}
        onClick={onKeys}
      >
        ?
      </button>
    </div>
  );
}

/** More files than these are fetched from where they lie. */
const ORIGINALS = 4;

function More({ board }: { board: Board }) {
  const words = t.value.timeline;
  const { arrows, clock } = params.value;
  const span = parseSpan(params.value.w) ?? board.whole;
  const trace = apiUrl('timeline/trace', {
    ...selectionQuery(),
    from: Math.round(span[0]),
    to: Math.round(span[1]),
    tracks: board.tracks,
    shift: formatShifts(board.shifts),
  });
  const toggle = (text: string, on: boolean, set: () => void, note = '') => (
    <label class="option check">
      <input type="checkbox" checked={on} onChange={set} />
      <span>{text}</span>
      {note && <span class="option-note">{note}</span>}
    </label>
  );
  const { arrowsTotal } = board;
  return (
    <Popover label={words.more} width={270}>
      {(close) => (
        <div class="option-list">
          {toggle(
            words.arrows,
            arrows === '1',
            () => navigate({ arrows: arrows === '1' ? null : '1' }, 'replace'),
            arrowsTotal === null ? '' : words.arrowsOf(board.arrowsShown, arrowsTotal),
          )}
          {toggle(words.idle, board.idle, board.toggleIdle)}
          {toggle(words.clock, clock === '1', () =>
            navigate({ clock: clock === '1' ? null : '1' }, 'replace'),
          )}
          {toggle(words.dense, board.state.dense, () =>
            board.change({ dense: !board.state.dense }),
          )}
          <button
            type="button"
            class="option"
            onClick={() => {
              close();
              savePicture(board);
            }}
          >
            <span>{words.png}</span>
          </button>
          <a class="option" href={trace} download title={words.traceHint} onClick={close}>
            <span>{words.trace}</span>
          </a>
          {board.data.ranks.slice(0, ORIGINALS).map(({ part, label }) => (
            <a
              key={part}
              class="option"
              href={apiUrl('timeline/original', { ...selectionQuery(), part })}
              download
              title={words.originalHint}
              onClick={close}
            >
              <span>
                {words.original}
                {board.data.ranks.length > 1 && ` · ${label}`}
              </span>
            </a>
          ))}
        </div>
      )}
    </Popover>
  );
}
