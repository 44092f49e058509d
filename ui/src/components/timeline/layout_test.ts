// Rows do not overlap, and a point finds its lane.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Track, TrackGroup } from '../../api/types';
import { layOut, rowAt, tracksBetween, type Openness } from './layout';

const track = (id: number, lanes: number, more: Partial<Track> = {}): Track => ({
  id,
  title: `t${id}`,
  kind: 'host',
  lanes,
  slices: 1,
  covered_ns: 1,
  ...more,
});

const GROUPS: readonly TrackGroup[] = [
  { title: 'process', kind: 'process', tracks: [track(1, 3), track(2, 40, { folded: true })] },
  {
    title: 'device',
    kind: 'device',
    tracks: [track(3, 1, { kind: 'accounting' }), track(4, 2, { kind: 'stream' })],
  },
];
const OPEN: Openness = { closed: new Set(), turned: new Set(), pins: [] };

test('rows follow each other without overlap', () => {
  const { rows, height } = layOut(GROUPS, OPEN);
  let y = 0;
  for (const row of rows) {
    assert.ok(row.y >= y);
    y = row.y + row.height;
  }
  assert.ok(height >= y);
  assert.equal(rows.filter((row) => row.type === 'track').length, 4);
});

test('a folded track has all its lanes in a little height', () => {
  const folded = layOut(GROUPS, OPEN).rows.find(
    (row) => row.type === 'track' && row.track.id === 2,
  );
  assert.ok(folded?.type === 'track' && folded.folded && folded.height < 30);
  const opened = layOut(GROUPS, { ...OPEN, turned: new Set([2]) }).rows.find(
    (row) => row.type === 'track' && row.track.id === 2,
  );
  assert.ok(opened?.type === 'track' && opened.height === 40 * 16);
});

test('a closed group hides its tracks, and a pinned one stands first, once', () => {
  const closed = layOut(GROUPS, { ...OPEN, closed: new Set(['0:process']), pins: [4] });
  const ids = closed.rows.flatMap((row) => (row.type === 'track' ? [row.track.id] : []));
  assert.deepEqual(ids, [4, 3]);
});

test('a point finds its lane, a gap finds nothing', () => {
  const layout = layOut(GROUPS, OPEN);
  const first = layout.rows.find((row) => row.type === 'track');
  assert.ok(first?.type === 'track');
  assert.equal(rowAt(layout, first.y + 17)?.lane, 1);
  assert.equal(rowAt(layout, first.y + first.height + 1), undefined);
  assert.deepEqual(tracksBetween(layout, first.y + 1, first.y + 2), [1]);
});
