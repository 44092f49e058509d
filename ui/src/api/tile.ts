// Tiles of the timeline: little-endian arrays, used as they come, without a parse per box.
import { failed, okay, type Result } from '../base/result';

export const BINS = 512;
export const MERGED = 0xffffffff;

/** Boxes of one track in one tile. x0 and x1 count units from the tile's begin. */
export interface TileBlock {
  readonly track: number;
  readonly lanes: number;
  readonly boxes: number;
  /** Exact sum of each lane's slices clipped to the tile, in ns. */
  readonly covered: readonly number[];
  readonly x0: Uint32Array;
  readonly x1: Uint32Array;
  readonly slice: Uint32Array;
  readonly name: Uint32Array;
  readonly lane: Uint16Array;
  readonly kind: Uint8Array;
  readonly coverage: Uint8Array;
}

/** ns per unit of x0 and x1 at a level. */
export const unitOf = (level: number): number => (level < 8 ? 1 : 2 ** (level - 8));

/** ns that a tile of a level covers. */
export const spanOf = (level: number): number => BINS * 2 ** level;

const padded = (bytes: number): number => Math.ceil(bytes / 8) * 8;

export function decodeTile(data: ArrayBuffer): Result<TileBlock[]> {
  const view = new DataView(data);
  // "FTT1"
  if (data.byteLength < 8 || view.getUint32(0, false) !== 0x46545431) {
    return failed('unreadable', 'not a tile');
  }
  const count = view.getUint32(4, true);
  const blocks: TileBlock[] = [];
  let at = 8;
  for (let i = 0; i < count; ++i) {
    if (at + 16 > data.byteLength) return failed('unreadable', 'a tile is cut short');
    const track = view.getUint32(at, true);
    const lanes = view.getUint32(at + 4, true);
    const boxes = view.getUint32(at + 8, true);
    at += 16;
    const size = lanes * 8 + 4 * padded(boxes * 4) + padded(boxes * 2) + 2 * padded(boxes);
    if (at + size > data.byteLength) return failed('unreadable', 'a tile is cut short');
    const covered: number[] = [];
    for (let lane = 0; lane < lanes; ++lane, at += 8) {
      covered.push(view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32);
    }
    const words = (): Uint32Array => {
      const array = new Uint32Array(data, at, boxes);
      at += padded(boxes * 4);
      return array;
    };
    const octets = (): Uint8Array => {
      const array = new Uint8Array(data, at, boxes);
      at += padded(boxes);
      return array;
    };
    const [x0, x1, slice, name] = [words(), words(), words(), words()];
    const lane = new Uint16Array(data, at, boxes);
    at += padded(boxes * 2);
    blocks.push({
      track,
      lanes,
      boxes,
      covered,
      x0,
      x1,
      slice,
      name,
      lane,
      kind: octets(),
      coverage: octets(),
    });
  }
  return okay(blocks);
}

/** The coarsest level whose bin is at most a pixel; one bin is then half a pixel to a whole one. */
export function levelFor(nsPerPixel: number, coarsest: number): number {
  const level = Math.floor(Math.log2(Math.max(nsPerPixel, 1)));
  return Math.max(0, Math.min(level, coarsest));
}

/** The finest level of which a single tile, the first, covers all until `end`. */
export function coarsestLevel(end: number): number {
  let level = 0;
  while (spanOf(level) < end && level < 53) ++level;
  return level;
}
