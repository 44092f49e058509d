// Starts the page: waits until the recording is read, then shows it.
import { render } from 'preact';
import { TraceClient } from '../api/client';
import type { SessionInfo } from '../api/types';
import { SCOPE_KEYS } from '../base/scope';
import { percentText } from '../base/format';
import { hasGraphicsCard } from '../components/timeline/gl_painter';
import { fetchMore } from '../views/fetch_more';
import { mirroredState } from './state';
import { App } from './app';
import { applyTheme, theme } from './theme';
import { Soft } from '../components/plain';

function Opening(props: { session: SessionInfo | null; message: string }) {
  const { session } = props;
  const progress = session?.progress ?? null;
  return (
    <div class="opening" role="status">
      <p class="brand">fathom</p>
      <p>{session?.input ?? ''}</p>
      {progress !== null && <progress max={1} value={progress} aria-label="Reading" />}
      <Soft>
        {props.message ||
          (progress === null ? 'Reading…' : `Reading, ${percentText(progress * 100)}`)}
      </Soft>
    </div>
  );
}

async function start(page: HTMLElement): Promise<void> {
  applyTheme(theme());
  const packed = document.getElementById('fathom-answers')?.textContent;
  const client = new TraceClient(packed ? await (await fetchMore()).unpackCarried(packed) : null);
  const state = mirroredState();
  client.input = state.value.scope.input;
  // While the server reads, it answers when it is done, or after a moment.
  for (;;) {
    const asked = client.json<SessionInfo>('api/session');
    // While the server answers: the timeline needs to know before it draws.
    if (state.value.view === 'timeline') setTimeout(hasGraphicsCard);
    const answer = await asked;
    if (answer.ok && answer.value.state === 'ready') {
      // What the command line selected holds, unless the address says otherwise.
      const { scope } = state.value;
      if (SCOPE_KEYS.every((key) => scope[key] === '')) {
        state.update({ scope: { ...scope, ...answer.value.scope } });
      }
      render(null, page);
      render(<App client={client} session={answer.value} state={state} />, page);
      return;
    }
    if (answer.ok && answer.value.state === 'failed') {
      render(
        <Opening session={answer.value} message={answer.value.message ?? 'It cannot be read.'} />,
        page,
      );
      return;
    }
    render(
      <Opening
        session={answer.ok ? answer.value : null}
        message={answer.ok ? '' : answer.error.message}
      />,
      page,
    );
    if (!answer.ok) await new Promise((done) => setTimeout(done, 50));
  }
}

const page = document.getElementById('page');
if (page) {
  page.replaceChildren();
  void start(page);
}
