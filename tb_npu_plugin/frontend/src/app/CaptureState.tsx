/** What the chosen recording is in the middle of, above every view. */
import type { CaptureInfo } from '../api/types.gen';
import { Notice, Strip } from '../components/Notice';
import { t } from '../i18n';
import { formatBytes } from '../lib/format';
import { visible } from '../lib/text';
import { view } from '../state/route';
import { currentRecording, gone } from '../state/session';
import { Page } from './Page';
import { Jobs } from './Start';

/** The recording has nothing to show; why, in place of the view. Null when it has. */
export function nothingToShow(): 'growing' | 'failed' | 'empty' | 'ingesting' | null {
  const captures = currentRecording.value?.captures ?? [];
  if (captures.length === 0 || ['health', 'files'].includes(view.value)) return null;
  const all = (state: CaptureInfo['state']) => captures.every((each) => each.state === state);
  for (const state of ['growing', 'failed', 'empty'] as const) if (all(state)) return state;
  const begun = captures.some((each) => each.state !== 'ingesting' || each.progress > 0);
  return begun ? null : 'ingesting';
}

export function CaptureState({ state }: { state: NonNullable<ReturnType<typeof nothingToShow>> }) {
  const words = t.value.state;
  if (state === 'growing') {
    return (
      <Notice title={words.growing} hint={words.growingHint}>
        <Growing />
      </Notice>
    );
  }
  if (state === 'ingesting') {
    return (
      <Notice title={words.readingNow} hint={words.ingestingHint}>
        <Jobs />
      </Notice>
    );
  }
  const title = state === 'failed' ? words.failed : words.emptyCapture;
  return (
    <>
      <Strip icon="error" tone="error" title={`${title}.`} hint={words.failedHint} />
      <Page id="health" />
    </>
  );
}

/** How much each process has written so far. */
function Growing() {
  const captures = currentRecording.value?.captures ?? [];
  return (
    <div class="start">
      {captures.slice(0, 16).map((capture) => (
        <div key={capture.capture_id} class="job">
          <code title={capture.path}>{visible(capture.name)}</code>
          <bdi class="quiet">{visible(capture.label)}</bdi>
          <span class="figure">{formatBytes(capture.bytes)}</span>
        </div>
      ))}
      {captures.length > 16 && <p class="quiet">…</p>}
    </div>
  );
}

export function GoneStrip() {
  if (!gone.value) return null;
  const words = t.value.state;
  return <Strip icon="warning" tone="warning" title={`${words.gone}.`} hint={words.goneHint} />;
}
