// Names of the string pool, fetched by pages as they come into view.
import type { TraceClient } from './client';
import { pathOf } from './urls';

const PAGE = 1024;

export class Names {
  private readonly pages = new Map<number, readonly string[] | 'asked'>();

  constructor(
    private readonly client: TraceClient,
    private readonly signal: AbortSignal,
    private readonly onArrival: () => void,
  ) {}

  /** The name, or undefined until it is here. */
  of(id: number): string | undefined {
    const page = Math.floor(id / PAGE);
    const names = this.pages.get(page);
    if (names === undefined) this.ask(page);
    return names === undefined || names === 'asked' ? undefined : names[id - page * PAGE];
  }

  private ask(page: number): void {
    this.pages.set(page, 'asked');
    const path = pathOf('api/names', [
      ['first', page * PAGE],
      ['count', PAGE],
    ]);
    void this.client.json<{ names: string[] }>(path, this.signal).then((result) => {
      if (!result.ok) {
        // A page in a file may lack it: asked once is enough.
        if (result.error.code !== 'left_out') this.pages.delete(page);
        return;
      }
      this.pages.set(page, result.value.names);
      this.onArrival();
    });
  }
}
