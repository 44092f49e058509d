// A value that tells when it changes.
export class Store<T> {
  private readonly listeners_ = new Set<(value: T) => void>();

  constructor(private current_: T) {}

  get value(): T {
    return this.current_;
  }

  set(value: T): void {
    if (value === this.current_) return;
    this.current_ = value;
    for (const listener of [...this.listeners_]) listener(value);
  }

  update(change: Partial<T>): void {
    this.set({ ...this.current_, ...change });
  }

  /** Calls `listener` at each change from now on, until the function that it returns is called. */
  subscribe(listener: (value: T) => void): () => void {
    this.listeners_.add(listener);
    return () => this.listeners_.delete(listener);
  }
}
