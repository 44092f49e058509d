// Fetches tiles, many tracks at a time, keeps the latest used, and cancels what is no longer wanted.
import { decodeTile, spanOf, type TileBlock } from './tile';
import type { TraceClient } from './client';
import { pathOf } from './urls';

const MOST_BYTES = 96 * 2 ** 20;
const CHUNK = 24;
/** The server answers 2048 lanes at a time. */
const CHUNK_LANES = 512;
const AT_A_TIME = 6;
/** Chunks whose coarsest tiles are fetched before one comes to their tracks. */
const AHEAD = 40;

type Chunks = readonly (readonly number[])[];

export interface Tile {
  readonly track: number;
  readonly level: number;
  readonly index: number;
  readonly block: TileBlock | null; // null: nothing of this track is there
  used: number;
}

/** Tracks as they are asked for together, the same each time, so that answers are cached. */
export function chunksOf(
  tracks: readonly { readonly id: number; readonly lanes: number }[],
): Chunks {
  const chunks: number[][] = [];
  let lanes = Infinity;
  for (const track of tracks) {
    const last = chunks.at(-1);
    if (last && last.length < CHUNK && lanes + track.lanes <= CHUNK_LANES) {
      last.push(track.id);
      lanes += track.lanes;
    } else {
      chunks.push([track.id]);
      lanes = track.lanes;
    }
  }
  return chunks;
}

interface Asked {
  readonly key: string;
  readonly level: number;
  readonly index: number;
  readonly tracks: readonly number[];
  readonly abort: AbortController;
  running: boolean;
  wanted: number;
}

export class Tiles {
  private readonly tiles_ = new Map<string, Tile>();
  private readonly asked_ = new Map<string, Asked>();
  private readonly failed_ = new Set<string>();
  private bytes_ = 0;
  private clock_ = 0;
  /** Told of each tile that is dropped, so that what was made of it can go, too. */
  onDrop: (tile: Tile) => void = () => {};

  constructor(
    private readonly client_: TraceClient,
    private readonly digest_: string,
    private readonly chunks_: Chunks,
    readonly coarsest: number,
    private readonly onArrival_: () => void,
  ) {}

  static key(track: number, level: number, index: number): string {
    return `${track}/${level}/${index}`;
  }

  get(track: number, level: number, index: number): Tile | undefined {
    const tile = this.tiles_.get(Tiles.key(track, level, index));
    if (tile) tile.used = ++this.clock_;
    return tile;
  }

  /** The tile itself, or the finest one above it that is here. */
  best(track: number, level: number, index: number): Tile | undefined {
    for (let up = level; up <= this.coarsest; ++up) {
      const tile = this.get(track, up, Math.floor(index / 2 ** (up - level)));
      if (tile) return tile;
    }
    return undefined;
  }

  get waiting(): boolean {
    return this.asked_.size > 0;
  }

  /** Asks for what is missing of [begin, end) at a level; what was asked for before and is not wanted now is cancelled. */
  want(tracks: ReadonlySet<number>, level: number, begin: number, end: number): void {
    const now = ++this.clock_;
    const ask = (chunks: Chunks, level: number, index: number): void => {
      for (const chunk of chunks)
        if (chunk.some((track) => !this.tiles_.has(Tiles.key(track, level, index))))
          this.request_(chunk, level, index, now);
    };
    const shown = this.chunks_.filter((chunk) => chunk.some((track) => tracks.has(track)));
    // A coarse one of what is in sight, and of what may be soon: of many thousand tracks not all at once.
    ask(shown, this.coarsest, 0);
    if (this.tiles_.size === 0) ask(this.chunks_.slice(0, AHEAD), this.coarsest, 0);
    const [first, last] = indicesOf(level, begin, end);
    // The middle first: that is where one looks.
    const middle = (first + last) / 2;
    const indices: number[] = [];
    for (let index = first; index <= last; ++index) indices.push(index);
    indices.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    for (const index of indices) ask(shown, level, index);
    for (const each of [...this.asked_.values()]) {
      if (each.wanted === now || each.level === this.coarsest) continue;
      each.abort.abort();
      this.asked_.delete(each.key);
    }
    this.start_();
  }

  /** Nobody looks any more: what is under way is cancelled, what waits is not asked for. */
  end(): void {
    for (const each of this.asked_.values()) each.abort.abort();
    this.asked_.clear();
  }

  private request_(tracks: readonly number[], level: number, index: number, now: number): void {
    const key = `${level}/${index}/${tracks[0] ?? ''}/${tracks.length}`;
    const before = this.asked_.get(key);
    if (before) before.wanted = now;
    else if (!this.failed_.has(key)) {
      const abort = new AbortController();
      this.asked_.set(key, { key, level, index, tracks, abort, running: false, wanted: now });
    }
  }

  private start_(): void {
    let running = 0;
    for (const each of this.asked_.values()) if (each.running) ++running;
    for (const each of this.asked_.values()) {
      if (running >= AT_A_TIME) return;
      if (each.running) continue;
      each.running = true;
      ++running;
      void this.fetch_(each);
    }
  }

  private async fetch_(each: Asked): Promise<void> {
    const path = pathOf(`api/tiles/${this.digest_}`, [
      ['level', each.level],
      ['tile', each.index],
      ['tracks', each.tracks.join(',')],
    ]);
    const answer = await this.client_.binary(path, each.abort.signal);
    if (this.asked_.get(each.key) !== each) return;
    this.asked_.delete(each.key);
    const blocks = answer.ok ? decodeTile(answer.value) : answer;
    if (blocks.ok) {
      for (const track of each.tracks) {
        const block = blocks.value.find((one) => one.track === track) ?? null;
        this.keep_({ track, level: each.level, index: each.index, block, used: ++this.clock_ });
      }
      this.drop_();
    } else if (blocks.error.code !== 'aborted') {
      // Once more when the server is back; a page in a file has only coarse ones.
      if (blocks.error.code !== 'unreachable') this.failed_.add(each.key);
    }
    this.onArrival_();
    this.start_();
  }

  private keep_(tile: Tile): void {
    const key = Tiles.key(tile.track, tile.level, tile.index);
    if (this.tiles_.has(key)) return;
    this.tiles_.set(key, tile);
    this.bytes_ += sizeOf(tile);
  }

  /** The coarsest tiles stay: they are what is drawn while finer ones are on their way. */
  private drop_(): void {
    if (this.bytes_ <= MOST_BYTES) return;
    const oldest = [...this.tiles_.entries()]
      .filter(([, tile]) => tile.level < this.coarsest)
      .sort(([, a], [, b]) => a.used - b.used);
    for (const [key, tile] of oldest) {
      if (this.bytes_ <= MOST_BYTES * 0.8) return;
      this.tiles_.delete(key);
      this.bytes_ -= sizeOf(tile);
      this.onDrop(tile);
    }
  }
}

const sizeOf = (tile: Tile): number => 96 + (tile.block?.boxes ?? 0) * 20;

/** Indices of the tiles of a level that meet [begin, end). */
export function indicesOf(level: number, begin: number, end: number): readonly [number, number] {
  const span = spanOf(level);
  return [Math.max(0, Math.floor(begin / span)), Math.max(0, Math.floor((end - 1) / span))];
}
