/** Which run: a directory below the logdir. */
import { OptionList } from '../components/OptionList';
import { Popover } from '../components/Popover';
import { t } from '../i18n';
import { visible } from '../lib/text';
import { navigate, OTHER_RECORDING, params } from '../state/route';
import { captures, currentRun } from '../state/session';

/** TensorBoard calls the logdir itself ".". */
function runName(run: string): string {
  return run === '.' ? '. (logdir)' : visible(run);
}

export function RunPicker() {
  const words = t.value;
  const runs = captures.value?.runs ?? [];
  const run = currentRun.value?.run ?? params.value.run ?? '';
  return (
    <Popover
      caption={words.bar.run}
      label={<bdi>{runName(run)}</bdi>}
      title={visible(run)}
      width={340}
    >
      {(close) => (
        <OptionList
          value={run}
          options={runs.map((each) => ({
            value: each.run,
            text: runName(each.run),
            note: String(each.recordings.length),
          }))}
          onChoose={(next) => {
            // Another run has other recordings, ranks and steps.
            navigate({
              run: next,
              recording: null,
              rank: null,
              device: null,
              step: null,
              source: null,
              ...OTHER_RECORDING,
            });
            close();
          }}
        />
      )}
    </Popover>
  );
}
