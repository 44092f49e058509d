// The frame around the views: their tabs, the scope, the drawer of what-if, and dialogs.
import { listen } from '../base/listen';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Connection, TraceClient } from '../api/client';
import type { SessionInfo } from '../api/types';
import type { Store } from '../base/store';
import type { ViewState } from '../base/view_state';
import { useStore } from '../components/use_store';
import { ALL_VIEWS } from '../views/all';
import type { View, ViewContext } from '../views/view';
import { FetchedWhatIf } from '../views/what_if/fetched';
import { Explain } from './explain';
import { Keys } from './keys';
import { ScopeBar } from './scope_bar';
import { applyTheme, nextTheme, theme } from './theme';
import { Quiet } from '../components/plain';

function contextFor(
  client: TraceClient,
  session: SessionInfo,
  state: Store<ViewState>,
  signal: AbortSignal,
): ViewContext {
  const go = (change: Partial<ViewState>): void => state.update(change);
  return {
    client,
    session,
    state,
    signal,
    go,
    origin: session.span?.begin_ns ?? 0,
    setScope: (change) => {
      const scope = { ...state.value.scope, ...change };
      // Tracks have other numbers in another recording.
      const another = scope.input !== state.value.scope.input;
      go(
        another
          ? { scope, top: null, pins: [], turned: [], closed: [], critical: false }
          : { scope },
      );
    },
    showTime: (begin, end, slice) => {
      const around = Math.max(100, (end - begin) * 0.15);
      go({
        view: 'timeline',
        visible: [Math.max(0, begin - around), end + around],
        top: null,
        slice: slice ?? null,
        area: null,
      });
    },
    showSlice: (slice) => go({ view: 'timeline', slice, area: null, visible: null, top: null }),
    showName: (search) => go({ view: 'timeline', search, area: null }),
    tryChanges: (changes) => go({ changes, whatIf: true }),
  };
}

interface Mounted {
  readonly view: View | undefined;
  readonly inner: HTMLElement;
  readonly abort: AbortController;
}

/** Mounts the view that the state names, and ends the one before; a session that tells more is given to the same view. */
function ViewHost(props: { view: string; make: (signal: AbortSignal) => ViewContext }) {
  const host = useRef<HTMLDivElement>(null);
  const mounted = useRef<Mounted | null>(null);
  // Before the frame is painted: no view is seen under the title of another.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return;
    const view = ALL_VIEWS.find((each) => each.id === props.view) ?? ALL_VIEWS[0];
    if (!mounted.current || mounted.current.view !== view) {
      mounted.current?.abort.abort();
      const inner = document.createElement('div');
      inner.className = `view view-${view?.id ?? ''}`;
      element.replaceChildren(inner);
      mounted.current = { view, inner, abort: new AbortController() };
      document.title = `${view?.title ?? ''} · Fathom`;
    }
    const { inner, abort } = mounted.current;
    view?.mount(inner, props.make(abort.signal));
  }, [props.view, props.make]);
  // Not useEffect: of a host that goes before it was painted, that would never end the view.
  useLayoutEffect(() => () => mounted.current?.abort.abort(), []);
  return <div class="view-host" ref={host} />;
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.tagName === 'TEXTAREA' ||
    target.tagName === 'SELECT' ||
    (target.tagName === 'INPUT' &&
      !['range', 'checkbox'].includes((target as HTMLInputElement).type)));

export function Shell(props: {
  client: TraceClient;
  session: SessionInfo;
  state: Store<ViewState>;
}) {
  const { client, session } = props;
  const state = useStore(props.state, 'view', 'whatIf');
  const [word, setWord] = useState('');
  const [keys, setKeys] = useState(false);
  const [chosen, setChosen] = useState(theme());
  const [connection, setConnection] = useState<Connection>(client.connection);
  const [replaced, setReplaced] = useState(session.replaced === true);
  const make = useMemo(
    () => (signal: AbortSignal) => contextFor(client, session, props.state, signal),
    [client, session, props.state],
  );
  const own = useMemo(() => make(new AbortController().signal), [make]);
  useEffect(() => {
    client.onConnection = setConnection;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      // By what it writes, not by its place: "/" is Shift and 7 on some keyboards.
      const view = /^[1-9]$/.test(event.key) && ALL_VIEWS[Number(event.key) - 1];
      if (view) own.go({ view: view.id });
      else if (event.key === '?') setKeys(true);
      else if (event.code === 'KeyX') own.go({ whatIf: !props.state.value.whatIf });
      else if (event.code === 'Escape' && props.state.value.whatIf) own.go({ whatIf: false });
      else return;
      event.preventDefault();
    };
    const explain = ({ target }: MouseEvent): void => {
      const term = target instanceof Element && target.closest<HTMLElement>('[data-term]');
      if (term) setWord(term.dataset['term'] ?? '');
    };
    const ends = [listen(window, 'keydown', press), listen(window, 'click', explain)];
    return () => ends.forEach((end) => end());
  }, [client, own, props.state]);
  // A server that is only slow, or a machine that slept, comes back under the same address.
  useEffect(() => {
    if (connection !== 'lost') return undefined;
    const timer = setInterval(() => void client.json('api/session'), 3000);
    return () => clearInterval(timer);
  }, [connection, client]);
  // Asked when somebody comes back to the page; a question every few seconds would keep an idle server alive.
  useEffect(() => {
    const look = async (): Promise<void> => {
      const answer = await client.json<SessionInfo>('api/session');
      if (answer.ok) setReplaced(answer.value.replaced === true);
    };
    return listen(window, 'focus', () => void look());
  }, [client]);
  return (
    <>
      <a
        class="skip"
        href="#view"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('view')?.focus();
        }}
      >
        Skip to the view
      </a>
      <header class="top">
        <span class="brand" aria-hidden="true">
          fathom
        </span>
        <span class="input" title={session.input}>
          {session.input.split('/').at(-1)}
        </span>
        <nav aria-label="Views">
          {ALL_VIEWS.map((view, i) => (
            <button
              key={view.id}
              aria-current={state.view === view.id ? 'page' : undefined}
              title={`${view.title} (${i + 1})`}
              onClick={() => own.go({ view: view.id })}
            >
              {view.title}
            </button>
          ))}
        </nav>
        <span class="grow" />
        <Quiet
          aria-pressed={state.whatIf}
          title="What would a change save? (X)"
          onClick={() => own.go({ whatIf: !state.whatIf })}
        >
          What if
        </Quiet>
        <Quiet title="Keys (?)" aria-label="Keys" onClick={() => setKeys(true)}>
          ?
        </Quiet>
        <Quiet
          title="Light, dark, or as the system"
          onClick={() => {
            const next = nextTheme(chosen);
            applyTheme(next);
            setChosen(next);
          }}
        >
          Theme: {chosen}
        </Quiet>
      </header>
      <ScopeBar context={own} />
      {connection === 'lost' && (
        <p class="banner" role="alert">
          The server does not answer: it has ended, or this machine slept. What is here stays. Start{' '}
          <code>{session.command ?? 'fathom view'}</code> again, and put what follows # in this
          page’s address behind the new one to come back to this picture.
        </p>
      )}
      {replaced && (
        <p class="banner" role="alert">
          The file was replaced since it was read: this is what it held then. Start{' '}
          <code>{session.command ?? 'fathom view'}</code> again to see the new one.
        </p>
      )}
      {connection === 'carried' && (
        <details class="banner">
          <summary>This page is a file: it holds the answers that it was written with.</summary>
          <ul>
            {client.leftOut.map((what) => (
              <li key={what}>{what}</li>
            ))}
          </ul>
        </details>
      )}
      <div class="body">
        <main id="view" tabIndex={-1} aria-busy={session.analysed === false}>
          {state.view !== 'diagnosis' && (
            <h1 class="hidden">{ALL_VIEWS.find((view) => view.id === state.view)?.title}</h1>
          )}
          <ViewHost view={state.view} make={make} />
        </main>
        {state.whatIf && <FetchedWhatIf context={own} onEnd={() => own.go({ whatIf: false })} />}
      </div>
      {word !== '' && <Explain key={word} client={client} word={word} onEnd={() => setWord('')} />}
      {keys && <Keys onEnd={() => setKeys(false)} />}
    </>
  );
}
