/** Which steps: all, some, ranges typed in, or what lies outside any step. */
import type { RecordingInfo } from '../api/types.gen';
import { OptionList } from '../components/OptionList';
import { Popover } from '../components/Popover';
import { t } from '../i18n';
import { formatRanges } from '../lib/ranges';
import { navigate, params } from '../state/route';
import { viewMeta } from '../state/session';
import { RangeInput } from './RangeInput';

const LISTED = 100;

export function StepPicker({ recording }: { recording: RecordingInfo }) {
  const words = t.value;
  const { steps, outside_steps: outside } = recording;
  const chosen = params.value.step ?? 'all';
  const ignored = viewMeta.value?.step_picker ?? null;
  const listed = steps.slice(0, LISTED);
  const options = [
    { value: 'all', text: words.pick.allSteps },
    ...(outside ? [{ value: 'none', text: words.pick.outside }] : []),
    ...listed.map((step) => ({ value: String(step), text: String(step) })),
  ];
  const choose = (step: string) => navigate({ step: step === 'all' ? null : step, offset: null });
  const text =
    chosen === 'all' ? words.pick.allSteps : chosen === 'none' ? words.pick.outside : chosen;
  return (
    <Popover
      caption={words.bar.step}
      label={text}
      title={ignored ?? words.bar.step}
      class={ignored ? `idle${chosen === 'all' ? '' : ' struck'}` : ''}
      width={260}
      disabled={ignored !== null}
    >
      {(close) =>
        ignored ? (
          <p class="quiet">{ignored}</p>
        ) : (
          <>
            {steps.length > 1 && (
              <RangeInput
                value={chosen === 'all' || chosen === 'none' ? '' : chosen}
                there={steps}
                onChange={(values) => {
                  choose(formatRanges(values));
                  close();
                }}
              />
            )}
            <OptionList
              value={chosen}
              options={options}
              onChoose={(step) => {
                choose(step);
                close();
              }}
            />
            {steps.length > LISTED && (
              <p class="quiet">{words.pick.moreSteps(steps.length - LISTED)}</p>
            )}
            {steps.length === 0 && <p class="quiet">{words.pick.noSteps}</p>}
          </>
        )
      }
    </Popover>
  );
}
