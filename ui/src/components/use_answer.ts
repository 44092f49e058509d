// An answer of the server as a hook: asked again when its path changes, cancelled when it is not wanted any more.
import { useEffect, useState } from 'preact/hooks';
import type { TraceClient } from '../api/client';
import type { Failure } from '../base/result';

export type Loaded<T> =
  | { readonly state: 'loading'; readonly before: T | null }
  | { readonly state: 'ready'; readonly value: T }
  | { readonly state: 'failed'; readonly error: Failure };

/** `path` null asks nothing. While a new answer is on its way, `before` holds the last one. */
export function useAnswer<T>(client: TraceClient, path: string | null): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: 'loading', before: null });
  useEffect(() => {
    if (path === null) return undefined;
    const abort = new AbortController();
    setLoaded((last) => ({
      state: 'loading',
      before: last.state === 'ready' ? last.value : last.state === 'loading' ? last.before : null,
    }));
    void client.json<T>(path, abort.signal).then((result) => {
      if (abort.signal.aborted) return;
      if (result.ok) setLoaded({ state: 'ready', value: result.value });
      else if (result.error.code !== 'aborted') setLoaded({ state: 'failed', error: result.error });
    });
    return () => abort.abort();
  }, [client, path]);
  return loaded;
}

/** The value, or the one before while a new one is on its way. */
export function latest<T>(loaded: Loaded<T>): T | null {
  return loaded.state === 'ready'
    ? loaded.value
    : loaded.state === 'loading'
      ? loaded.before
      : null;
}
