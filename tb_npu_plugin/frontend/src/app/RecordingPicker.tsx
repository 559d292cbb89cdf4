/** Which recording of the run: captures that were taken together, newest first. */
import type { RecordingInfo } from '../api/types.gen';
import { OptionList } from '../components/OptionList';
import { Popover } from '../components/Popover';
import { t } from '../i18n';
import { parseRanges } from '../lib/ranges';
import { visible } from '../lib/text';
import { navigate, OTHER_RECORDING, type Patch, params } from '../state/route';
import { currentRecording, currentRun } from '../state/session';

export function RecordingPicker() {
  const words = t.value;
  const recordings = currentRun.value?.recordings ?? [];
  const recording = currentRecording.value;
  const label = recording?.label ?? params.value.recording ?? '–';
  return (
    <Popover
      caption={words.bar.recording}
      label={<bdi>{visible(label)}</bdi>}
      title={[visible(label), startedText(recording)].filter(Boolean).join('\n')}
      width={380}
    >
      {(close) => (
        <OptionList
          value={recording?.recording ?? null}
          options={recordings.map((each, at) => ({
            value: each.recording,
            text: visible(each.label),
            note: (
              <span title={startedText(each)}>
                {words.pick.manyRanks(each.ranks.length)}
                {at === 0 && recordings.length > 1 ? ` · ${words.bar.newest}` : ''}
              </span>
            ),
          }))}
          onChoose={(id) => {
            const next = recordings.find((each) => each.recording === id);
            navigate({ ...OTHER_RECORDING, recording: id, ...(next ? kept(next) : {}) });
            close();
          }}
        />
      )}
    </Popover>
  );
}

/** The same ranks and steps stay chosen where the other recording has them: that is a comparison. */
function kept(next: RecordingInfo): Patch {
  const { rank, device, step } = params.value;
  const has = (chosen: string | undefined, there: readonly (number | null)[]) => {
    const { values, error } = parseRanges(chosen ?? '');
    return error === null && values.every((value) => there.includes(value));
  };
  return {
    rank: has(rank, next.ranks) ? rank : null,
    device: has(device, next.devices) ? device : null,
    step: has(step, next.steps) ? step : null,
  };
}

/** In the reader's zone; the directory's own name, beside it, may be in another. */
function startedText(recording: RecordingInfo | null): string {
  if (!recording?.started_ns) return '';
  const time = new Date(Number(BigInt(recording.started_ns) / 1_000_000n));
  return Number.isNaN(time.getTime()) ? '' : t.value.bar.startedAt(time.toLocaleString());
}
