/** The frame: bar, menu, and the view or the state that stands in its place. */
import { useEffect } from 'preact/hooks';
import { ApiError } from '../api/client';
import { Failure } from '../components/Failure';
import { HoverCard, hideHover } from '../components/HoverCard';
import { Toast } from '../components/Toast';
import { t } from '../i18n';
import { params, view } from '../state/route';
import { captures, currentRecording, gone } from '../state/session';
import { CaptureState, GoneStrip, nothingToShow } from './CaptureState';
import { Page } from './Page';
import { Rail } from './Rail';
import { Start } from './Start';
import { TopBar } from './TopBar';

export function App() {
  const id = view.value;
  useEffect(() => hideHover(), [id]);
  return (
    <div class="app">
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        {t.value.skipToContent}
      </button>
      <TopBar />
      <div class="body">
        <Rail />
        <main id="main" tabIndex={-1} class={gone.value ? 'is-gone' : ''}>
          <GoneStrip />
          <Content />
        </main>
      </div>
      <HoverCard />
      <Toast />
    </div>
  );
}

function Content() {
  const now = captures.value;
  if (!now || now.runs.length === 0) return <Start />;
  if (!currentRecording.value) {
    const { run, recording } = params.value;
    const message = [run, recording].filter(Boolean).join(' / ');
    return (
      <Failure
        error={new ApiError(404, { code: 'not-found', message, hint: '', position: null })}
      />
    );
  }
  const state = nothingToShow();
  return state ? <CaptureState state={state} /> : <Page id={view.value} />;
}
