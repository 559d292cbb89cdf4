/** Which device, where a capture holds several. */
import type { RecordingInfo } from '../api/types.gen';
import { OptionList } from '../components/OptionList';
import { Popover } from '../components/Popover';
import { t } from '../i18n';
import { navigate, params } from '../state/route';

export function DevicePicker({ recording }: { recording: RecordingInfo }) {
  const words = t.value;
  const chosen = params.value.device ?? 'all';
  const devices = [...recording.devices].sort((a, b) => a - b);
  return (
    <Popover
      caption={words.bar.device}
      label={chosen === 'all' ? words.pick.allDevices : chosen}
      width={200}
    >
      {(close) => (
        <OptionList
          value={chosen}
          options={[
            { value: 'all', text: words.pick.allDevices },
            ...devices.map((device) => ({ value: String(device), text: String(device) })),
          ]}
          onChoose={(device) => {
            navigate({ device: device === 'all' ? null : device, offset: null });
            close();
          }}
        />
      )}
    </Popover>
  );
}
