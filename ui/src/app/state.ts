// The one store of the page, mirrored in the fragment of the address.
import { listen } from '../base/listen';
import { Store } from '../base/store';
import { decodeState, encodeState, type ViewState } from '../base/view_state';

/** Writing the address more often than this, browsers refuse. */
const PAUSE_MS = 250;

export function mirroredState(): Store<ViewState> {
  const state = new Store<ViewState>(decodeState(location.hash));
  let written = encodeState(state.value);
  let view = state.value.view;
  let timer = 0;
  const write = (): void => {
    timer = 0;
    const fragment = encodeState(state.value);
    if (fragment === written) return;
    written = fragment;
    const address = fragment === '' ? location.pathname + location.search : `#${fragment}`;
    // A change of view is a step of the history, all else is not.
    const step = state.value.view !== view;
    view = state.value.view;
    try {
      if (step) history.pushState(null, '', address);
      else history.replaceState(null, '', address);
    } catch {
      // The page stands within another one, as in a notebook, and has no address of its own.
    }
  };
  state.subscribe((value) => {
    clearTimeout(timer);
    if (value.view !== view) write();
    else timer = setTimeout(write, PAUSE_MS) as unknown as number;
  });
  const read = (): void => {
    const fragment = location.hash.replace(/^#/, '');
    if (fragment === written) return;
    written = fragment;
    const next = decodeState(fragment);
    view = next.view;
    state.set(next);
  };
  listen(window, 'popstate', read);
  listen(window, 'hashchange', read);
  return state;
}
