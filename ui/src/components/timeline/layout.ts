// Rows of the timeline from top to bottom: groups, and their tracks with their lanes.
import type { Track, TrackGroup } from '../../api/types';

export const LANE = 16;
const HEADING = 24;
const GAP = 4;
const COUNTER = 38;
const FOLDED = 18;
const ACCOUNTING = 20;

export interface TrackRow {
  readonly type: 'track';
  readonly track: Track;
  readonly y: number;
  readonly height: number;
  readonly lane: number; // height of a lane
  readonly folded: boolean;
  readonly pinned: boolean;
}

export interface GroupRow {
  readonly type: 'group';
  readonly key: string;
  readonly title: string;
  readonly y: number;
  readonly height: number;
  readonly closed: boolean;
  readonly tracks: number;
}

export type LayoutRow = TrackRow | GroupRow;

export interface Layout {
  readonly rows: readonly LayoutRow[];
  readonly height: number;
}

export interface Openness {
  /** Keys of groups that are closed. */
  readonly closed: ReadonlySet<string>;
  /** Tracks that are not as their default: folded ones that are open, and others that are folded. */
  readonly turned: ReadonlySet<number>;
  readonly pins: readonly number[];
}

function heightOf(track: Track, folded: boolean): readonly [height: number, lane: number] {
  if (track.kind === 'counter') return [COUNTER, COUNTER];
  if (track.kind === 'accounting') return [ACCOUNTING, ACCOUNTING];
  const lanes = Math.max(1, track.lanes);
  return folded ? [FOLDED, FOLDED / lanes] : [lanes * LANE, LANE];
}

export const isFolded = (track: Track, openness: Openness): boolean =>
  (track.folded ?? false) !== openness.turned.has(track.id);

export function layOut(groups: readonly TrackGroup[], openness: Openness): Layout {
  const rows: LayoutRow[] = [];
  let y = 0;
  const add = (track: Track, pinned: boolean): void => {
    const folded = isFolded(track, openness);
    const [height, lane] = heightOf(track, folded);
    rows.push({ type: 'track', track, y, height, lane, folded, pinned });
    y += height + GAP;
  };
  const all = groups.flatMap((group) => group.tracks);
  for (const pin of openness.pins) {
    const track = all.find((each) => each.id === pin);
    if (track) add(track, true);
  }
  groups.forEach((group, i) => {
    const key = `${i}:${group.title}`;
    const closed = openness.closed.has(key);
    rows.push({
      type: 'group',
      key,
      title: group.title,
      y,
      height: HEADING,
      closed,
      tracks: group.tracks.length,
    });
    y += HEADING;
    if (closed) return;
    for (const track of group.tracks) if (!openness.pins.includes(track.id)) add(track, false);
  });
  return { rows, height: y + 40 };
}

/** Devices first: what they wait for is what one looks for. Then processes, then counters. */
export function devicesFirst(groups: readonly TrackGroup[]): readonly TrackGroup[] {
  const place = (group: TrackGroup): number =>
    ['device', 'process', 'counters'].indexOf(group.kind);
  return [...groups].sort((a, b) => place(a) - place(b));
}

/** The row at a height, and the lane in it; gaps belong to the row above. */
export function rowAt(layout: Layout, y: number): { row: TrackRow; lane: number } | undefined {
  for (const row of layout.rows) {
    if (row.type !== 'track' || y < row.y || y >= row.y + row.height) continue;
    return { row, lane: Math.min(row.track.lanes - 1, Math.floor((y - row.y) / row.lane)) };
  }
  return undefined;
}

export function tracksBetween(layout: Layout, top: number, bottom: number): number[] {
  const found: number[] = [];
  for (const row of layout.rows) {
    // What is no slices is not selected.
    if (row.type !== 'track' || row.track.kind === 'counter' || row.track.kind === 'accounting')
      continue;
    if (row.y < bottom && row.y + row.height > top) found.push(row.track.id);
  }
  return found;
}
