// Listening to events.

interface Events extends WindowEventMap {
  'fathom-theme': Event;
}

/** Returns what ends it; a signal among the options ends it, too. */
export function listen<Type extends keyof Events>(
  target: EventTarget,
  type: Type,
  heard: (event: Events[Type]) => void,
  options?: AddEventListenerOptions,
): () => void {
  target.addEventListener(type, heard as EventListener, options);
  return () => target.removeEventListener(type, heard as EventListener);
}

/** Of what ends once. */
export const atEnd = (signal: AbortSignal, end: () => void): unknown =>
  listen(signal, 'abort', end);
