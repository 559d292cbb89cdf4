/** Before there is anything to look at: searching, nothing found, or being read for the first time. */
import { CopyButton } from '../components/CopyButton';
import { Failure } from '../components/Failure';
import { Notice } from '../components/Notice';
import { Skeleton } from '../components/Skeleton';
import { t } from '../i18n';
import { formatBytes, formatRatio } from '../lib/format';
import { visible } from '../lib/text';
import { captures, progress, startError } from '../state/session';

/** What to paste into a training script; the directory is the one that is searched here. */
function recordSnippet(logdir: string): string {
  return `from tb_npu_handler import npu_handler

with torch_npu.profiler.profile(
    schedule=torch_npu.profiler.schedule(wait=1, warmup=1, active=1),
    on_trace_ready=npu_handler(${JSON.stringify(`${logdir}/my_job`)}),
) as prof:
    for batch in loader:
        train(batch)
        prof.step()
`;
}

function sampleCommand(logdir: string): string {
  const quoted = /^[\w./~-]+$/.test(logdir) ? logdir : `'${logdir.replaceAll("'", "'\\''")}'`;
  return `tb-npu sample ${quoted}/sample --ranks 8`;
}

export function Start() {
  const now = captures.value;
  const error = startError.value;
  if (!now)
    return error ? (
      <Failure error={error} />
    ) : (
      <div class="card">
        <Skeleton />
      </div>
    );
  return now.scanning ? <Scanning /> : <NoCaptures />;
}

function Searched() {
  const searched = captures.value?.searched ?? [];
  return (
    <>
      <h3>{t.value.state.searched}</h3>
      <ul class="paths">
        {searched.map((path) => (
          <li key={path}>
            <code>{path}</code>
          </li>
        ))}
      </ul>
    </>
  );
}

function Scanning() {
  const words = t.value.state;
  return (
    <Notice icon="search" title={words.scanning} hint={words.scanningHint}>
      <div class="start">
        <Searched />
        <Jobs />
      </div>
    </Notice>
  );
}

function NoCaptures() {
  const words = t.value.state;
  const logdir = captures.value?.searched[0]?.replace(/\/$/, '') ?? 'runs';
  return (
    <Notice icon="search" title={words.noCaptures} hint={words.noCapturesHint}>
      <div class="start">
        <Searched />
        <p class="quiet">{words.tryServer}</p>
        <h3>{words.accepted}</h3>
        <dl class="layouts">
          {words.layouts.map(([pattern, meaning]) => (
            <div key={pattern}>
              <dt>
                <code>{pattern}</code>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <h3>{words.record}</h3>
        <Snippet text={recordSnippet(logdir)} />
        <h3>{words.trySample}</h3>
        <Snippet text={sampleCommand(logdir)} />
      </div>
    </Notice>
  );
}

function Snippet({ text }: { text: string }) {
  return (
    <div class="snippet">
      <pre>{text}</pre>
      <CopyButton text={text} label={t.value.copy} />
    </div>
  );
}

/** What is being read, file by file. */
export function Jobs() {
  const jobs = progress.value?.jobs ?? [];
  if (jobs.length === 0) return null;
  return (
    <section class="jobs" aria-label={t.value.state.readingNow}>
      <h3>{t.value.state.reading(jobs.length)}</h3>
      {jobs.map((job) => (
        <div key={`${job.capture_id}/${job.file}`} class="job">
          <code>{visible(`${job.label} · ${job.file}`)}</code>
          <span class="meter" aria-hidden="true">
            <span class="c-accent" style={`width:${(job.progress * 100).toFixed(1)}%`} />
          </span>
          <span class="figure">
            {t.value.state.of(formatRatio(job.progress), formatBytes(job.bytes))}
          </span>
        </div>
      ))}
    </section>
  );
}
