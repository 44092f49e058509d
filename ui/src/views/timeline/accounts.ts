// The accounting lane: segments of what is in sight, fetched when the view rests.
import type { TraceClient } from '../../api/client';
import type { Tile } from '../../api/tiles';
import { pathOf } from '../../api/urls';
import { accountTile, type Segment } from './account_tile';
import type { Viewport } from './viewport';

const REST_MS = 60;

interface Lane {
  key: string;
  segments: readonly Segment[];
  tile: Tile;
}

/** -1 stands for the main thread, where no device was recorded. */
const optionOf = (device: number): number | '' => (device < 0 ? '' : device);

export class Accounts {
  private readonly lanes = new Map<number, Lane>();
  private timer = 0;
  private abort = new AbortController();
  private asked = '';

  constructor(
    private readonly client: TraceClient,
    private readonly onArrival: () => void,
    private readonly onDrop: (tile: Tile) => void,
  ) {}

  /** What a painter draws of it. */
  tileOf(device: number): Tile | undefined {
    return this.lanes.get(device)?.tile;
  }

  segmentsOf(device: number): readonly Segment[] {
    return this.lanes.get(device)?.segments ?? [];
  }

  at(device: number, time: number, slack: number): Segment | undefined {
    const segments = this.segmentsOf(device);
    return (
      segments.find((each) => time >= each.begin_ns && time < each.end_ns) ??
      segments.find((each) => time >= each.begin_ns - slack && time < each.end_ns + slack)
    );
  }

  /** True while what is in sight is not what was asked for. */
  get waiting(): boolean {
    return this.asked !== '';
  }

  want(devices: readonly number[], viewport: Viewport): void {
    const begin = Math.max(viewport.whole.begin, Math.floor(viewport.begin));
    const end = Math.min(viewport.whole.end, Math.ceil(viewport.end));
    const key = `${begin}-${end}`;
    const missing = devices.filter((device) => this.lanes.get(device)?.key !== key);
    const question = missing.length === 0 || end <= begin ? '' : `${key}/${missing.join()}`;
    if (question === this.asked) return;
    this.asked = question;
    clearTimeout(this.timer);
    if (question === '') return;
    this.timer = setTimeout(() => this.ask(missing, begin, end, key), REST_MS) as unknown as number;
  }

  end(): void {
    clearTimeout(this.timer);
    this.abort.abort();
  }

  private ask(devices: readonly number[], begin: number, end: number, key: string): void {
    this.abort.abort();
    this.abort = new AbortController();
    for (const device of devices) {
      const path = pathOf('api/accounting', [
        ['device', optionOf(device)],
        ['begin', begin],
        ['end', end],
      ]);
      void this.client.json<{ segments: Segment[] }>(path, this.abort.signal).then((result) => {
        if (!result.ok && result.error.code === 'aborted') return;
        const before = this.lanes.get(device);
        // What is not available is not asked for again until one moves.
        const segments = result.ok ? result.value.segments : (before?.segments ?? []);
        if (before) this.onDrop(before.tile);
        this.lanes.set(device, { key, segments, tile: accountTile(0, segments) });
        this.onArrival();
      });
    }
  }
}
