/** What is being looked at, and what to do with the page as a whole. */
import { CopyButton } from '../components/CopyButton';
import { Door } from '../components/Door';
import { Icon } from '../components/Icon';
import { OptionList } from '../components/OptionList';
import { Popover } from '../components/Popover';
import { lang, rememberLang, t } from '../i18n';
import { formatInt } from '../lib/format';
import { waiting } from '../state/asker';
import { hrefFor, navigate, openView, params, view } from '../state/route';
import { captures, counts, currentRecording, progress, viewMeta } from '../state/session';
import { DevicePicker } from './DevicePicker';
import { RankPicker } from './RankPicker';
import { RecordingPicker } from './RecordingPicker';
import { RunPicker } from './RunPicker';
import { VIEWS, viewOf } from './registry';
import { StepPicker } from './StepPicker';

export function TopBar() {
  const words = t.value;
  const recording = currentRecording.value;
  return (
    <header class="topbar">
      <strong class="product">{words.product}</strong>
      <ViewPicker />
      {captures.value && captures.value.runs.length > 0 && (
        <>
          <RunPicker />
          <RecordingPicker />
          {recording && <RankPicker recording={recording} />}
          {recording && recording.devices.length > 1 && <DevicePicker recording={recording} />}
          {recording && <StepPicker recording={recording} />}
        </>
      )}
      <span class="spacer" />
      <Findings />
      <CopyButton
        icon="link"
        label={words.bar.share}
        title={words.bar.shareHint}
        class="button share-link"
        text={shareLink}
      />
      <button
        type="button"
        class="button language"
        title={words.bar.languageHint}
        onClick={switchLang}
      >
        {words.bar.language}
      </button>
      <Busy />
    </header>
  );
}

/** "Newest" and "first" change with time, so the link names what they are now; the reader's language is the reader's. */
function shareLink(): string {
  const selection = viewMeta.value?.selection;
  const { lang: _lang, ...rest } = params.value;
  return hrefFor({
    view: view.value,
    ...(selection ? { run: selection.run, recording: selection.recording } : {}),
    ...rest,
  });
}

function switchLang(): void {
  const next = lang.value === 'en' ? 'zh' : 'en';
  rememberLang(next);
  navigate({ lang: next }, 'replace');
}

function Findings() {
  const count = counts.value.health ?? 0;
  if (count === 0) return null;
  const { health_errors: errors = 0, health_warnings: warnings = 0 } = counts.value;
  const level = errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'info';
  return (
    <Door view="health" class={`badge s-${level}`} label={t.value.bar.findings(count)}>
      <Icon name={level} size={14} />
      <span>
        {formatInt(count)} <span class="badge-word">{t.value.bar.findingsWord(count)}</span>
      </span>
    </Door>
  );
}

/** Where the rail is hidden, this is the menu. */
function ViewPicker() {
  const words = t.value;
  const entry = viewOf(view.value);
  return (
    <Popover
      class="view-picker"
      label={entry ? words.views[entry.id] : view.value}
      title={words.bar.view}
      width={220}
    >
      {(close) => (
        <OptionList
          value={view.value}
          options={VIEWS.map(({ id }) => ({ value: id, text: words.views[id] }))}
          onChoose={(id) => {
            openView(id);
            close();
          }}
        />
      )}
    </Popover>
  );
}

/** What is being read as a share of it, else that an answer takes longer than a blink. */
function Busy() {
  const now = progress.value;
  const reading = now?.state === 'ingesting';
  if (!reading && now?.state !== 'scanning' && waiting.value === 0) return null;
  return (
    <span
      class={`busy${reading ? '' : ' busy-scan'}`}
      role="progressbar"
      aria-label={reading ? t.value.state.readingNow : t.value.table.loading}
      {...(reading ? { 'aria-valuenow': Math.round(now.progress * 100) } : {})}
    >
      <span style={reading ? `width:${Math.max(2, now.progress * 100).toFixed(1)}%` : ''} />
    </span>
  );
}
