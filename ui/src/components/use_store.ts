// A store's value as a hook.
import { useEffect, useState } from 'preact/hooks';
import type { Store } from '../base/store';

/** Those parts of it that have these keys: a change of another is none. */
export function useStore<T, Key extends keyof T = keyof T>(
  store: Store<T>,
  ...keys: readonly Key[]
): Pick<T, Key> {
  const [value, setValue] = useState(store.value);
  useEffect(() => {
    const look = (next: T): void =>
      setValue((last) =>
        keys.length > 0 && keys.every((key) => last[key] === next[key]) ? last : next,
      );
    look(store.value);
    return store.subscribe(look);
  }, [store]);
  return value;
}
