// Boxes of an accounting lane have the times, shares and paints of its stretches.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spanOf, unitOf } from '../../api/tile';
import { ALL_PAINTS, paintOf } from '../../base/palette';
import { accountTile, type Segment } from './account_tile';

const segment = (begin: number, end: number, bucket: string): Segment => ({
  begin_ns: begin,
  end_ns: end,
  bucket,
  cause_slice: null,
});

test('each stretch is a box of its time and paint', () => {
  const segments = [
    segment(1_000_000, 1_400_000, 'compute'),
    segment(1_400_000, 9_000_000, 'sync'),
  ];
  const tile = accountTile(7, segments);
  const block = tile.block!;
  assert.equal(block.boxes, 2);
  const unit = unitOf(tile.level);
  const start = tile.index * spanOf(tile.level);
  segments.forEach((each, i) => {
    assert.ok(Math.abs(start + block.x0[i]! * unit - each.begin_ns) <= unit);
    assert.ok(Math.abs(start + block.x1[i]! * unit - each.end_ns) <= unit);
    assert.equal(ALL_PAINTS[block.kind[i]!], paintOf(each.bucket));
    assert.equal(block.coverage[i], 255);
  });
  // Fine enough for any screen: a unit is less than a ten-thousandth of what is shown.
  assert.ok(unit * 10_000 < 8_000_000);
});

test('parts of a stretch lie one above the other, the first at the bottom', () => {
  const merged = {
    ...segment(0, 1000, 'compute'),
    parts: [
      { id: 'compute', ns: 500 },
      { id: 'sync', ns: 250 },
      { id: 'python', ns: 250 },
    ],
  };
  const block = accountTile(1, [merged]).block!;
  assert.deepEqual([...block.coverage], [255, 191, 128]);
  assert.deepEqual(
    [...block.kind].map((kind) => ALL_PAINTS[kind]!.name),
    ['python', 'sync', 'compute'],
  );
});
