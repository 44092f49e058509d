// An answer of the server as a hook: asked again when its path changes, cancelled when it is not wanted any more.
import { useLayoutEffect, useState } from 'preact/hooks';
import type { TraceClient } from '../api/client';
import type { Failure } from '../base/result';

export type Loaded<T> =
  | { readonly state: 'loading'; readonly before: T | null }
  | { readonly state: 'ready'; readonly value: T }
  | { readonly state: 'failed'; readonly error: Failure };

/** `path` null asks nothing. While a new answer is on its way, `before` holds the last one. */
export function useAnswer<T>(client: TraceClient, path: string | null): Loaded<T> {
  const [answer, setAnswer] = useState<{ path: string | null; loaded: Loaded<T> }>({
    path,
    loaded: { state: 'loading', before: null },
  });
  // Not useEffect, which waits for a frame: what is asked first is on its way while it is painted.
  useLayoutEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    setAnswer((last) => ({ path, loaded: { state: 'loading', before: latest(last.loaded) } }));
    void client.json<T>(path, abort.signal).then((result) => {
      if (abort.signal.aborted) return;
      if (result.ok) setAnswer({ path, loaded: { state: 'ready', value: result.value } });
      else if (result.error.code !== 'aborted') {
        setAnswer({ path, loaded: { state: 'failed', error: result.error } });
      }
    });
    return () => abort.abort();
  }, [client, path]);
  // What was answered to another question is not shown as the answer to this one, not for a frame.
  return answer.path === path || path === null
    ? answer.loaded
    : { state: 'loading', before: latest(answer.loaded) };
}

/** The value, or the one before while a new one is on its way. */
export function latest<T>(loaded: Loaded<T>): T | null {
  return loaded.state === 'ready'
    ? loaded.value
    : loaded.state === 'loading'
      ? loaded.before
      : null;
}
