// The page once the recording is read: asks again what there is when another recording is chosen.
import { useEffect, useState } from 'preact/hooks';
import type { TraceClient } from '../api/client';
import type { SessionInfo } from '../api/types';
import type { Store } from '../base/store';
import type { ViewState } from '../base/view_state';
import { useStore } from '../components/use_store';
import { Shell } from './shell';

/** How long to wait for the steps, which are found after the recording is read; then longer and longer. */
const AGAIN_MS = 150;
const MOST_MS = 1000;

interface Known {
  readonly input: string;
  readonly info: SessionInfo;
}

/** The views begin anew with another recording. */
const recordingOf = ({ input, info }: Known): string => `${input}/${info.digest ?? ''}`;

const sameIn = (a: Known, b: Known): boolean =>
  recordingOf(a) === recordingOf(b) && a.info.analysed === b.info.analysed;

export function App(props: { client: TraceClient; session: SessionInfo; state: Store<ViewState> }) {
  const { client } = props;
  const { scope } = useStore(props.state, 'scope');
  const [session, setSession] = useState<Known>({ input: client.input, info: props.session });
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const ask = async (wait: number): Promise<void> => {
      client.input = scope.input;
      const answer = await client.json<SessionInfo>('api/session', abort.signal);
      if (abort.signal.aborted) return;
      if (!answer.ok || answer.value.analysed === false) {
        timer = setTimeout(
          () => void ask(Math.min(wait * 1.5, MOST_MS)),
          wait,
        ) as unknown as number;
      }
      if (!answer.ok) return;
      const next = { input: scope.input, info: answer.value };
      setSession((last) => (sameIn(last, next) ? last : next));
    };
    if (scope.input !== session.input || session.info.analysed === false) void ask(AGAIN_MS);
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [client, scope.input]);
  // Nothing of the one recording is asked of the other.
  if (scope.input !== session.input) return <p class="loading">Opening…</p>;
  return (
    <Shell key={recordingOf(session)} client={client} session={session.info} state={props.state} />
  );
}
