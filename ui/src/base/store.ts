// A value that tells when it changes.
export class Store<T> {
  private readonly listeners = new Set<(value: T) => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }

  set(value: T): void {
    if (value === this.current) return;
    this.current = value;
    for (const listener of [...this.listeners]) listener(value);
  }

  update(change: Partial<T>): void {
    this.set({ ...this.current, ...change });
  }

  /** Calls `listener` at each change from now on, until the function that it returns is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
