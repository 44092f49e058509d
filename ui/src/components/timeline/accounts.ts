// The accounting lane: segments of what is in sight, of whole tiles, so that they serve what is near as well.
import type { TraceClient } from '../../api/client';
import { coarsestLevel, levelFor, spanOf } from '../../api/tile';
import type { Tile } from '../../api/tiles';
import { indicesOf } from '../../api/tiles';
import { pathOf } from '../../api/urls';
import { accountTile, type Segment } from './account_tile';
import type { Viewport } from './viewport';

/** Failures that say nothing about the stretch: asked again, it may be there. */
const PASSING: readonly string[] = ['aborted', 'unreachable', 'busy'];

/** Of each device: zooming out again finds them here. */
const MOST_KEPT = 24;

interface Lane {
  readonly segments: readonly Segment[];
  readonly tile: Tile;
}

interface Stretch {
  readonly begin: number;
  readonly end: number;
}

/** -1 stands for the main thread, where no device was recorded. */
const optionOf = (device: number): number | '' => (device < 0 ? '' : device);

/** What is in sight, widened to the tiles that it meets. */
export function stretchOf(viewport: Viewport): Stretch {
  const { whole } = viewport;
  const level = levelFor(viewport.nsPerPixel, coarsestLevel(whole.end));
  const [first, last] = indicesOf(level, viewport.begin, viewport.end);
  return {
    begin: Math.max(whole.begin, first * spanOf(level)),
    end: Math.min(whole.end, (last + 1) * spanOf(level)),
  };
}

export class Accounts {
  /** The latest used last. */
  private readonly lanes = new Map<string, Lane>();
  private readonly shown = new Map<number, string>();
  private readonly asked = new Map<string, AbortController>();

  constructor(
    private readonly client: TraceClient,
    private readonly onArrival: () => void,
    private readonly onDrop: (tile: Tile) => void,
  ) {}

  /** What a painter draws of it. */
  tileOf(device: number): Tile | undefined {
    return this.laneOf(device)?.tile;
  }

  segmentsOf(device: number): readonly Segment[] {
    return this.laneOf(device)?.segments ?? [];
  }

  at(device: number, time: number, slack: number): Segment | undefined {
    const segments = this.segmentsOf(device);
    return (
      segments.find((each) => time >= each.begin_ns && time < each.end_ns) ??
      segments.find((each) => time >= each.begin_ns - slack && time < each.end_ns + slack)
    );
  }

  /** True while something in sight is on its way. */
  get waiting(): boolean {
    return this.asked.size > 0;
  }

  /** Asks for what is missing; what was asked for before and is not wanted now is cancelled. */
  want(devices: readonly number[], viewport: Viewport): void {
    const stretch = stretchOf(viewport);
    if (stretch.end <= stretch.begin) return;
    const wanted = new Map(
      devices.map((device) => [`${device}/${stretch.begin}-${stretch.end}`, device]),
    );
    for (const [key, abort] of this.asked) {
      if (wanted.has(key)) continue;
      abort.abort();
      this.asked.delete(key);
    }
    for (const [key, device] of wanted) {
      const lane = this.lanes.get(key);
      if (lane) {
        this.lanes.delete(key);
        this.lanes.set(key, lane);
        this.shown.set(device, key);
      } else if (!this.asked.has(key)) {
        this.ask(key, device, stretch);
      }
    }
  }

  end(): void {
    for (const abort of this.asked.values()) abort.abort();
    this.asked.clear();
  }

  private laneOf(device: number): Lane | undefined {
    return this.lanes.get(this.shown.get(device) ?? '');
  }

  private ask(key: string, device: number, { begin, end }: Stretch): void {
    const abort = new AbortController();
    this.asked.set(key, abort);
    const path = pathOf('api/accounting', [
      ['device', optionOf(device)],
      ['begin', begin],
      ['end', end],
    ]);
    void this.client.json<{ segments: Segment[] }>(path, abort.signal).then((result) => {
      if (this.asked.get(key) !== abort) return;
      this.asked.delete(key);
      if (!result.ok && PASSING.includes(result.error.code)) return;
      // What is not available is not asked for again until one moves.
      const segments = result.ok ? result.value.segments : this.segmentsOf(device);
      this.lanes.set(key, { segments, tile: accountTile(0, segments) });
      this.drop();
      this.onArrival();
    });
  }

  private drop(): void {
    const shown = new Set(this.shown.values());
    const most = MOST_KEPT * Math.max(1, shown.size);
    for (const [key, lane] of this.lanes) {
      if (this.lanes.size <= most) return;
      if (shown.has(key)) continue;
      this.lanes.delete(key);
      this.onDrop(lane.tile);
    }
  }
}
