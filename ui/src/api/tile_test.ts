// Tiles are read as docs/view.md lays them out; a damaged one is an error, not a crash.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coarsestLevel, decodeTile, levelFor, MERGED, spanOf, unitOf } from './tile';

interface Box {
  readonly x0: number;
  readonly x1: number;
  readonly slice: number;
  readonly name: number;
  readonly lane: number;
  readonly kind: number;
  readonly coverage: number;
}

/** Writes a tile byte by byte, apart from the reader's own arithmetic. */
function written(
  blocks: readonly { track: number; covered: readonly bigint[]; boxes: readonly Box[] }[],
): ArrayBuffer {
  const out: number[] = [...'FTT1'].map((c) => c.charCodeAt(0));
  const put = (value: number | bigint, size: number): void => {
    for (let i = 0; i < size; ++i) out.push(Number((BigInt(value) >> BigInt(8 * i)) & 255n));
  };
  const pad = (): void => {
    while (out.length % 8 !== 0) out.push(0);
  };
  put(blocks.length, 4);
  for (const { track, covered, boxes } of blocks) {
    for (const value of [track, covered.length, boxes.length, 0]) put(value, 4);
    for (const ns of covered) put(ns, 8);
    const columns = [
      ['x0', 4],
      ['x1', 4],
      ['slice', 4],
      ['name', 4],
      ['lane', 2],
      ['kind', 1],
      ['coverage', 1],
    ] as const;
    for (const [key, size] of columns) {
      for (const box of boxes) put(box[key], size);
      pad();
    }
  }
  return Uint8Array.from(out).buffer;
}

const BOXES: readonly Box[] = [
  { x0: 0, x1: 512, slice: 7, name: 3, lane: 0, kind: 2, coverage: 255 },
  { x0: 512, x1: 768, slice: MERGED, name: 4, lane: 1, kind: 0, coverage: 100 },
  { x0: 100_000, x1: 131_072, slice: 9, name: 70_000, lane: 300, kind: 255, coverage: 255 },
];

test('boxes and exact sums of lanes come out as they went in', () => {
  const tile = decodeTile(
    written([
      { track: 5, covered: [2n ** 40n + 3n, 0n], boxes: BOXES },
      { track: 6, covered: [], boxes: [] },
    ]),
  );
  assert.ok(tile.ok);
  assert.deepEqual(
    tile.value.map((block) => [block.track, block.lanes, block.boxes]),
    [
      [5, 2, 3],
      [6, 0, 0],
    ],
  );
  const block = tile.value[0];
  assert.deepEqual(block?.covered, [2 ** 40 + 3, 0]);
  BOXES.forEach((box, i) => {
    assert.equal(block?.x0[i], box.x0);
    assert.equal(block?.x1[i], box.x1);
    assert.equal(block?.slice[i], box.slice);
    assert.equal(block?.name[i], box.name);
    assert.equal(block?.lane[i], box.lane);
    assert.equal(block?.kind[i], box.kind);
    assert.equal(block?.coverage[i], box.coverage);
  });
});

test('a tile that is cut anywhere is refused', () => {
  const whole = written([{ track: 5, covered: [1n], boxes: BOXES }]);
  for (let length = 0; length < whole.byteLength; ++length) {
    assert.ok(!decodeTile(whole.slice(0, length)).ok, `${length} bytes`);
  }
  assert.ok(decodeTile(whole).ok);
});

test('counts that the bytes do not bear out are refused', () => {
  const bytes = new Uint8Array(written([{ track: 1, covered: [1n], boxes: BOXES }]));
  bytes.fill(255, 16, 20);
  assert.ok(!decodeTile(bytes.buffer).ok);
  assert.ok(!decodeTile(new TextEncoder().encode('<!doctype html>').buffer).ok);
});

test('a level has bins of at most a pixel', () => {
  assert.equal(levelFor(1, 40), 0);
  assert.equal(levelFor(1023, 40), 9);
  assert.equal(levelFor(1024, 40), 10);
  assert.equal(levelFor(0.1, 40), 0);
  assert.equal(levelFor(1e12, 20), 20);
});

test('the coarsest level covers all by its first tile', () => {
  for (const end of [1, 512, 513, 1e6, 2 ** 31 + 1, 1e15]) {
    const level = coarsestLevel(end);
    assert.ok(spanOf(level) >= end);
    assert.ok(level === 0 || spanOf(level - 1) < end);
  }
});

test('units are whole nanoseconds', () => {
  assert.equal(unitOf(0), 1);
  assert.equal(unitOf(8), 1);
  assert.equal(unitOf(12), 16);
});
