// Curves of counter tracks: bins of what is in sight, fetched when the view rests.
import type { TraceClient } from '../../api/client';
import type { CounterBin } from '../../api/types';
import { pathOf } from '../../api/urls';
import type { Viewport } from './viewport';

const BINS = 400;
const REST_MS = 80;

interface Curve {
  key: string;
  bins: readonly CounterBin[];
}

export class Counters {
  private readonly curves_ = new Map<number, Curve>();
  private timer_ = 0;
  private abort_ = new AbortController();
  /** Of which stretch curves are on their way, and of which tracks. */
  private key_ = '';
  private readonly asked_ = new Set<number>();

  constructor(
    private readonly client_: TraceClient,
    private readonly onArrival_: () => void,
  ) {}

  binsOf(track: number): readonly CounterBin[] {
    return this.curves_.get(track)?.bins ?? [];
  }

  /** Asks for the curves of these tracks, unless they are here for this stretch. */
  want(tracks: readonly number[], viewport: Viewport): void {
    const begin = Math.max(viewport.whole.begin, Math.floor(viewport.begin));
    const end = Math.min(viewport.whole.end, Math.ceil(viewport.end));
    const key = `${begin}-${end}`;
    const missing = tracks.filter(
      (track) =>
        this.curves_.get(track)?.key !== key && !(key === this.key_ && this.asked_.has(track)),
    );
    clearTimeout(this.timer_);
    if (missing.length === 0 || end <= begin) return;
    this.timer_ = setTimeout(
      () => this.ask_(missing, begin, end, key),
      REST_MS,
    ) as unknown as number;
  }

  end(): void {
    clearTimeout(this.timer_);
    this.abort_.abort();
  }

  private ask_(tracks: readonly number[], begin: number, end: number, key: string): void {
    if (key !== this.key_) {
      this.abort_.abort();
      this.abort_ = new AbortController();
      this.asked_.clear();
      this.key_ = key;
    }
    for (const track of tracks) {
      this.asked_.add(track);
      const path = pathOf('api/counters', [
        ['track', track],
        ['begin', begin],
        ['end', end],
        ['bins', BINS],
      ]);
      void this.client_.json<{ bins: CounterBin[] }>(path, this.abort_.signal).then((result) => {
        if (key !== this.key_ || (!result.ok && result.error.code === 'aborted')) return;
        this.asked_.delete(track);
        this.curves_.set(track, { key, bins: result.ok ? result.value.bins : [] });
        this.onArrival_();
      });
    }
  }
}
