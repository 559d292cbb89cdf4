/**
 * What is there and what is being read: `/captures` once, `/progress` while the page is visible.
 * When the backend's version moves, the captures are fetched again and the views follow.
 */
import { computed, effect, signal } from '@preact/signals';
import { GoneError, get } from '../api/client';
import type { Captures, CapturesReply, Meta, Progress, ProgressReply } from '../api/types.gen';
import { lang } from '../i18n';
import { isHidden, onWake } from './host';
import { params } from './route';

const BUSY_MS = 2_000;
const IDLE_MS = 15_000;
const GONE_MS = 3_000;
/** Somebody waits for a file that is read only since a view asked for it: the first looks come sooner. */
const WAITED_MS = 500;
const SOON = 6;

export const captures = signal<Captures | null>(null);
export const progress = signal<Progress | null>(null);
/** Nobody answers; what is shown was loaded before. */
export const gone = signal(false);
/** Why the captures themselves could not be had, though somebody answered. */
export const startError = signal<Error | null>(null);
/** What the view on screen last said about itself. */
export const viewMeta = signal<Meta | null>(null);
/** Rows per view and number of findings, for the menu. */
export const counts = signal<Record<string, number>>({});

/** Views fetch again when this changes. */
export const version = computed(() => `${captures.value?.version ?? ''}.${reloads.value}`);
const reloads = signal(0);

export const currentRun = computed(() => {
  const runs = captures.value?.runs ?? [];
  const wanted = params.value.run;
  return wanted ? (runs.find((run) => run.run === wanted) ?? null) : (runs[0] ?? null);
});

export const currentRecording = computed(() => {
  const recordings = currentRun.value?.recordings ?? [];
  const wanted = params.value.recording;
  return wanted
    ? (recordings.find((recording) => recording.recording === wanted) ?? null)
    : (recordings[0] ?? null);
});

export function publishMeta(meta: Meta): void {
  viewMeta.value = meta;
  if (Object.keys(meta.counts).length > 0) counts.value = { ...counts.peek(), ...meta.counts };
  // Nothing was read when we last looked, and this view has had its files read from now on.
  if (meta.state === 'ingesting' && progress.peek()?.state === 'idle' && left === 0) {
    left = SOON;
    schedule(true);
  }
}

/** How many looks are still to come soon. */
let left = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let current = new AbortController();
/** A poll was due while the page was hidden. */
let asleep = false;

/** Starts polling; returns how to stop. */
export function startSession(): () => void {
  left = 0;
  const stopLang = effect(() => {
    lang.value; // labels come from the server, in one language
    void poll(true);
  });
  const stopWake = onWake(() => {
    if (asleep) void poll(false);
  });
  return () => {
    stopLang();
    stopWake();
    current.abort();
    clearTimeout(timer);
  };
}

/** TensorBoard's reload button, or "try again": the directories are searched anew too. */
export function reload(): void {
  reloads.value++;
  void poll(true, true);
}

async function poll(everything: boolean, rescan = false): Promise<void> {
  asleep = false;
  current.abort();
  current = new AbortController();
  const { signal: stop } = current;
  clearTimeout(timer);
  const query = { lang: lang.peek() };
  try {
    const { data } = await get<ProgressReply>('progress', query, stop);
    if (stop.aborted) return;
    progress.value = data;
    if (everything || data.version !== captures.peek()?.version) {
      const asked = rescan ? { ...query, rescan: 1 } : query;
      const reply = await get<CapturesReply>('captures', asked, stop);
      if (stop.aborted) return;
      captures.value = reply.data;
    }
    startError.value = null;
    setGone(false);
  } catch (error) {
    if (stop.aborted) return;
    setGone(error instanceof GoneError);
    startError.value = error instanceof GoneError ? null : (error as Error);
  }
  schedule(rescan);
}

function setGone(now: boolean): void {
  const was = gone.peek();
  gone.value = now;
  if (was && !now) reloads.value++; // what failed meanwhile is fetched again
}

/** What a new search finds is known a moment later. */
function schedule(soon: boolean): void {
  const busy = soon || captures.peek()?.scanning || progress.peek()?.state !== 'idle';
  const waited = left > 0;
  if (waited) left--;
  const delay = gone.peek() ? GONE_MS : waited ? WAITED_MS : busy ? BUSY_MS : IDLE_MS;
  clearTimeout(timer);
  timer = setTimeout(() => {
    if (isHidden()) asleep = true;
    else void poll(false);
  }, delay);
}

/** A view could not reach the backend: find out now instead of at the next poll. */
export function noteGone(): void {
  if (gone.peek()) return;
  gone.value = true;
  void poll(false);
}
