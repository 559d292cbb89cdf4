/** The view that the address names: its chunk is fetched once, its faults stay inside. */
import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Door } from '../components/Door';
import { Notice } from '../components/Notice';
import { Skeleton } from '../components/Skeleton';
import { t } from '../i18n';
import { gone, noteGone } from '../state/session';
import { VIEWS, type View, viewOf } from './registry';

const loaded = new Map<string, ComponentType>();

async function load(entry: View): Promise<void> {
  if (loaded.has(entry.id)) return;
  const module = await entry.load();
  loaded.set(entry.id, module.default);
}

/** Once a view stands, the others are fetched too: small files, and then a click is instant. */
function fetchOthers(): void {
  setTimeout(async () => {
    for (const entry of VIEWS) await load(entry).catch(() => {});
  }, 1_000);
}

export function Page({ id }: { id: string }) {
  const words = t.value.state;
  const [, redraw] = useState(0);
  const [failed, setFailed] = useState<string | null>(null);
  const away = gone.value;
  useEffect(() => {
    const entry = viewOf(id);
    if (!entry || away) return;
    let current = true;
    load(entry).then(
      () => {
        if (!current) return;
        setFailed(null);
        redraw((n) => n + 1);
        fetchOthers();
      },
      () => {
        noteGone(); // or the file is gone: the next poll tells
        if (current) setFailed(id);
      },
    );
    return () => {
      current = false;
    };
  }, [id, away]);

  const View = loaded.get(id);
  if (View) {
    return (
      <Boundary key={id}>
        <View />
      </Boundary>
    );
  }
  if (!viewOf(id)) {
    return (
      <Notice icon="warning" title={words.unknownView(id)}>
        <Door view="overview" class="button primary">
          {words.openOverview}
        </Door>
      </Notice>
    );
  }
  if (failed === id) {
    return away ? (
      <Notice icon="warning" tone="warning" title={words.gone} hint={words.goneHint} />
    ) : (
      <Notice icon="warning" tone="warning" title={words.error} hint={words.chunkHint}>
        <button type="button" class="button primary" onClick={() => window.location.reload()}>
          {t.value.reload}
        </button>
      </Notice>
    );
  }
  return (
    <div class="card">
      <Skeleton />
    </div>
  );
}

interface State {
  error: Error | null;
}

/** A fault of one view leaves the frame and the other views alone. */
class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: null };

  static override getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Notice icon="error" tone="error" title={t.value.state.error} hint={String(error)}>
        <button type="button" class="button primary" onClick={() => this.setState({ error: null })}>
          {t.value.retry}
        </button>
      </Notice>
    );
  }
}
