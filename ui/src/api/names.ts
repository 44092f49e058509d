// Names of the string pool, fetched by pages as they come into view.
import type { TraceClient } from './client';
import { pathOf } from './urls';

const PAGE = 1024;

interface NamesAnswer {
  readonly names: readonly string[];
  readonly total: number;
}

export class Names {
  private readonly pages_ = new Map<number, string[]>();

  constructor(
    private readonly client_: TraceClient,
    private readonly signal_: AbortSignal,
    private readonly onArrival_: () => void,
  ) {}

  /** The name, or undefined until it is here. */
  of(id: number): string | undefined {
    const page = Math.floor(id / PAGE);
    const names = this.pages_.get(page);
    if (names) return names[id - page * PAGE];
    this.pages_.set(page, []);
    this.ask_(page);
    return undefined;
  }

  /** Answers are cut where names are very long: then the rest is asked for. */
  private ask_(page: number): void {
    const here = this.pages_.get(page) ?? [];
    const first = page * PAGE + here.length;
    const path = pathOf('api/names', [
      ['first', first],
      ['count', PAGE - here.length],
    ]);
    void this.client_.json<NamesAnswer>(path, this.signal_).then((result) => {
      if (!result.ok) {
        // A page in a file may lack it: asked once is enough.
        if (result.error.code !== 'left_out') this.pages_.delete(page);
        return;
      }
      const { names, total } = result.value;
      here.push(...names);
      this.onArrival_();
      if (names.length > 0 && here.length < PAGE && first + names.length < total) this.ask_(page);
    });
  }
}
