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
  private readonly lanes_ = new Map<string, Lane>();
  private readonly shown_ = new Map<number, string>();
  private readonly asked_ = new Map<string, AbortController>();

  constructor(
    private readonly client_: TraceClient,
    private readonly onArrival_: () => void,
    private readonly onDrop_: (tile: Tile) => void,
  ) {}

  /** What a painter draws of it. */
  tileOf(device: number): Tile | undefined {
    return this.laneOf_(device)?.tile;
  }

  segmentsOf(device: number): readonly Segment[] {
    return this.laneOf_(device)?.segments ?? [];
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
    return this.asked_.size > 0;
  }

  /** Asks for what is missing; what was asked for before and is not wanted now is cancelled. */
  want(devices: readonly number[], viewport: Viewport): void {
    const stretch = stretchOf(viewport);
    if (stretch.end <= stretch.begin) return;
    const wanted = new Map(
      devices.map((device) => [`${device}/${stretch.begin}-${stretch.end}`, device]),
    );
    for (const [key, abort] of this.asked_) {
      if (wanted.has(key)) continue;
      abort.abort();
      this.asked_.delete(key);
    }
    for (const [key, device] of wanted) {
      const lane = this.lanes_.get(key);
      if (lane) {
        this.lanes_.delete(key);
        this.lanes_.set(key, lane);
        this.shown_.set(device, key);
      } else if (!this.asked_.has(key)) {
        this.ask_(key, device, stretch);
      }
    }
  }

  end(): void {
    for (const abort of this.asked_.values()) abort.abort();
    this.asked_.clear();
  }

  private laneOf_(device: number): Lane | undefined {
    return this.lanes_.get(this.shown_.get(device) ?? '');
  }

  private ask_(key: string, device: number, { begin, end }: Stretch): void {
    const abort = new AbortController();
    this.asked_.set(key, abort);
    const path = pathOf('api/accounting', [
      ['device', optionOf(device)],
      ['begin', begin],
      ['end', end],
    ]);
    void this.client_.json<{ segments: Segment[] }>(path, abort.signal).then((result) => {
      if (this.asked_.get(key) !== abort) return;
      this.asked_.delete(key);
      if (!result.ok && PASSING.includes(result.error.code)) return;
      // What is not available is not asked for again until one moves.
      const segments = result.ok ? result.value.segments : this.segmentsOf(device);
      this.lanes_.set(key, { segments, tile: accountTile(0, segments) });
      this.drop_();
      this.onArrival_();
    });
  }

  private drop_(): void {
    const shown = new Set(this.shown_.values());
    const most = MOST_KEPT * Math.max(1, shown.size);
    for (const [key, lane] of this.lanes_) {
      if (this.lanes_.size <= most) return;
      if (shown.has(key)) continue;
      this.lanes_.delete(key);
      this.onDrop_(lane.tile);
    }
  }
}
