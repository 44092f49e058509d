// Stretches of an accounting lane as boxes that a painter draws: merged ones as shares, one above the other.
import { spanOf, unitOf } from '../../api/tile';
import type { Tile } from '../../api/tiles';
import type { BucketTime, LinkEnd } from '../../api/types';
import { ALL_PAINTS, paintOf } from '../../base/palette';

export interface Segment {
  readonly begin_ns: number;
  readonly end_ns: number;
  readonly bucket: string;
  readonly cause_slice: LinkEnd | null;
  /** Of a stretch in which short segments are merged: its time by bucket. */
  readonly parts?: readonly BucketTime[];
}

/** Kinds of the boxes are places in ALL_PAINTS. */
export function accountTile(track: number, segments: readonly Segment[]): Tile {
  const begin = segments[0]?.begin_ns ?? 0;
  const end = segments.at(-1)?.end_ns ?? 1;
  let level = 8;
  while (spanOf(level) < end - begin) ++level;
  const index = Math.floor(begin / spanOf(level));
  const start = index * spanOf(level);
  const unit = unitOf(level);
  const boxes = segments.reduce((sum, each) => sum + (each.parts?.length ?? 1), 0);
  const block = {
    track,
    lanes: 1,
    boxes,
    covered: [],
    x0: new Uint32Array(boxes),
    x1: new Uint32Array(boxes),
    slice: new Uint32Array(boxes),
    name: new Uint32Array(boxes),
    lane: new Uint16Array(boxes),
    kind: new Uint8Array(boxes),
    coverage: new Uint8Array(boxes),
  };
  let at = 0;
  const add = (segment: Segment, id: string, share: number): void => {
    block.x0[at] = Math.round((segment.begin_ns - start) / unit);
    block.x1[at] = Math.round((segment.end_ns - start) / unit);
    block.kind[at] = ALL_PAINTS.indexOf(paintOf(id));
    block.coverage[at++] = Math.round(255 * share);
  };
  for (const segment of segments) {
    if (!segment.parts) {
      add(segment, segment.bucket, 1);
      continue;
    }
    // Each box begins at the bottom, so the highest is drawn first, and those below it over it.
    const whole = Math.max(1, segment.end_ns - segment.begin_ns);
    let height = segment.parts.reduce((sum, part) => sum + part.ns, 0);
    for (const part of [...segment.parts].reverse()) {
      add(segment, part.id, Math.min(1, height / whole));
      height -= part.ns;
    }
  }
  return { track, level, index, block, used: 0 };
}
