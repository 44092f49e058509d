// What a painter draws: for each row in sight, pieces of tiles, the finest that are here.
import type { Tile, Tiles } from '../../api/tiles';
import { indicesOf } from '../../api/tiles';
import { spanOf, unitOf } from '../../api/tile';
import type { Paint } from '../../base/palette';
import type { Layout, TrackRow } from './layout';
import type { Context2D } from './overlay';
import type { Viewport } from './viewport';

/** A tile, drawn between two times: a coarser one stands in where the finer is not here yet. */
export interface Piece {
  readonly tile: Tile;
  readonly from: number;
  readonly to: number;
}

export interface SceneRow {
  readonly row: TrackRow;
  readonly y: number; // on the canvas
  readonly pieces: readonly Piece[];
  readonly paints: readonly Paint[];
}

export interface Band {
  readonly y: number;
  readonly height: number;
}

export interface Scene {
  readonly rows: readonly SceneRow[];
  /** Accounting lanes: drawn like rows, but nothing of them is a slice. */
  readonly accounts: readonly SceneRow[];
  /** Headings of groups go on behind the boxes, as bands on the canvas. */
  readonly bands: readonly Band[];
  readonly level: number;
  /** True where some piece is coarser than it should be. */
  readonly coarse: boolean;
}

export interface Theme {
  readonly dark: boolean;
  readonly paper: number; // 0xRRGGBB
  readonly raised: number;
  readonly ink: number;
  readonly line: number;
}

export interface Painter {
  readonly kind: 'webgl2' | 'pixels';
  /** What lies above the boxes is drawn here; null: on a canvas of its own. */
  readonly over: Context2D | null;
  resize(width: number, height: number, ratio: number): void;
  draw(scene: Scene, viewport: Viewport, theme: Theme, onlyName: number | null): void;
  /** After what lies above was drawn. */
  show(): void;
  forget(tile: Tile): void;
  end(): void;
}

export function sceneOf(
  layout: Layout,
  tiles: Tiles,
  viewport: Viewport,
  level: number,
  scroll: number,
  height: number,
  paintsOf: (kind: string) => readonly Paint[],
  accountOf: (device: number) => Tile | undefined,
): Scene {
  const rows: SceneRow[] = [];
  const accounts: SceneRow[] = [];
  const bands: Band[] = [];
  const { begin, end } = viewport.recorded;
  const [first, last] = indicesOf(level, begin, end);
  const span = spanOf(level);
  let coarse = false;
  for (const row of layout.rows) {
    if (row.y + row.height < scroll || row.y > scroll + height) continue;
    if (row.type === 'group') bands.push({ y: row.y - scroll, height: row.height });
    if (row.type === 'group' || row.track.kind === 'counter') continue;
    if (row.track.kind === 'accounting') {
      const tile = accountOf(row.track.device ?? -1);
      const pieces = tile ? [{ tile, from: viewport.begin, to: viewport.end }] : [];
      accounts.push({ row, y: row.y - scroll, pieces, paints: paintsOf('accounting') });
      continue;
    }
    const pieces: Piece[] = [];
    for (let index = first; index <= last; ++index) {
      const tile = tiles.best(row.track.id, level, index);
      if (!tile || tile.level !== level) coarse = true;
      if (!tile) continue;
      const before = pieces.at(-1);
      const to = (index + 1) * span;
      if (before && before.tile === tile) pieces[pieces.length - 1] = { ...before, to };
      else pieces.push({ tile, from: index * span, to });
    }
    rows.push({ row, y: row.y - scroll, pieces, paints: paintsOf(row.track.kind) });
  }
  return { rows, accounts, bands, level, coarse };
}

export interface Box {
  readonly tile: Tile;
  readonly at: number;
  readonly begin: number;
  readonly end: number;
  readonly lane: number;
  readonly slice: number;
  readonly name: number;
  readonly kind: number;
  readonly single: boolean;
  readonly coverage: number;
}

/** Box number `at` of a tile that has a block. */
export function boxOf(tile: Tile, at: number): Box {
  const block = tile.block!;
  const start = tile.index * spanOf(tile.level);
  const unit = unitOf(tile.level);
  const slice = block.slice[at] ?? 0xffffffff;
  return {
    tile,
    at,
    begin: start + (block.x0[at] ?? 0) * unit,
    end: start + (block.x1[at] ?? 0) * unit,
    lane: block.lane[at] ?? 0,
    slice,
    name: block.name[at] ?? 0,
    kind: block.kind[at] ?? 0,
    single: slice !== 0xffffffff,
    coverage: block.coverage[at] ?? 255,
  };
}

/** Calls `visit` with each box of a row that meets [begin, end) and is drawn. */
export function eachBox(
  row: SceneRow,
  begin: number,
  end: number,
  visit: (tile: Tile, at: number, from: number, to: number) => void,
): void {
  for (const piece of row.pieces) {
    const { block } = piece.tile;
    if (!block) continue;
    const low = Math.max(begin, piece.from);
    const high = Math.min(end, piece.to);
    if (high <= low) continue;
    const start = piece.tile.index * spanOf(piece.tile.level);
    const unit = unitOf(piece.tile.level);
    const from = (low - start) / unit;
    const to = (high - start) / unit;
    for (let at = 0; at < block.boxes; ++at) {
      const x0 = block.x0[at] ?? 0;
      const x1 = block.x1[at] ?? 0;
      if (x1 > from && x0 < to) visit(piece.tile, at, start + x0 * unit, start + x1 * unit);
    }
  }
}

/** The box at a time and lane; boxes narrower than `slack` ns are widened to it. */
export function boxAt(row: SceneRow, lane: number, time: number, slack: number): Box | undefined {
  let found: Box | undefined;
  let nearest = Infinity;
  eachBox(row, time - slack, time + slack, (tile, at, from, to) => {
    if (tile.block?.lane[at] !== lane) return;
    const distance = time < from ? from - time : time > to ? time - to : 0;
    if (distance > slack || distance >= nearest) return;
    nearest = distance;
    found = boxOf(tile, at);
  });
  return found;
}
