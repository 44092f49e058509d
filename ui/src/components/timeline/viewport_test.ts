// A zoom keeps the time under the pointer, and nothing leaves the recording.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Viewport } from './viewport';

function shown(): Viewport {
  const viewport = new Viewport({ begin: 0, end: 1_000_000 });
  viewport.width = 1000;
  return viewport;
}

test('a zoom keeps the time under the pointer', () => {
  const viewport = shown();
  const before = viewport.timeOf(300);
  viewport.zoom(0.25, 300);
  assert.ok(Math.abs(viewport.timeOf(300) - before) < 1e-6);
  assert.equal(viewport.end - viewport.begin, 250_000);
});

test('a zoom stops at a few nanoseconds and at the whole recording', () => {
  const viewport = shown();
  for (let i = 0; i < 100; ++i) viewport.zoom(0.5, 500);
  assert.equal(viewport.end - viewport.begin, 50);
  for (let i = 0; i < 100; ++i) viewport.zoom(2, 500);
  assert.ok(viewport.end - viewport.begin <= 1_020_000);
});

test('panning stays in sight of the recording', () => {
  const viewport = shown();
  viewport.set(0, 1000);
  viewport.pan(-1e9);
  assert.equal(viewport.begin, -500);
  viewport.pan(1e9);
  assert.ok(Math.abs(viewport.end - 1_000_500) < 1e-6);
});

test('back returns to where a jump began, once', () => {
  const viewport = shown();
  viewport.set(100, 2000);
  viewport.remember();
  viewport.remember();
  viewport.set(5000, 6000);
  assert.deepEqual(viewport.back(), { begin: 100, end: 2000 });
  assert.equal(viewport.back(), undefined);
});
