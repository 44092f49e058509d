// Timelines beside each other keep their places to each other, however far one zooms out or moves.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Viewport } from '../../components/timeline/viewport';
import { boundsBeside } from './beside';

const BASE = { begin: 0, end: 1_000_000 };
const NEXT = { begin: 0, end: 90_000 };
const SHIFT = 5_000 - 400_000; // step 4 of base at 400 µs is beside a step of the other at 5 µs

test('bounds hold both recordings', () => {
  const bounds = boundsBeside(BASE, NEXT, SHIFT);
  assert.deepEqual(bounds.base, { begin: 0, end: 1_000_000 });
  assert.deepEqual(bounds.next, { begin: -395_000, end: 605_000 });
  assert.deepEqual(boundsBeside(NEXT, BASE, -SHIFT).base, { begin: -395_000, end: 605_000 });
});

test('a step of each stays at the same pixel', () => {
  const [base, next] = [new Viewport(BASE), new Viewport(NEXT)];
  base.width = next.width = 1000;
  const bounds = boundsBeside(BASE, NEXT, SHIFT);
  [base.bounds, next.bounds] = [bounds.base, bounds.next];
  for (const move of [
    () => base.set(390_000, 500_000),
    () => base.zoom(1e3, 10),
    () => base.zoom(1e-4, 400),
    () => base.pan(-1e9),
    () => base.pan(1e9),
  ]) {
    move();
    next.set(base.begin + SHIFT, base.end + SHIFT);
    assert.ok(Math.abs(next.nsPerPixel - base.nsPerPixel) < 1e-9 * base.nsPerPixel);
    assert.ok(Math.abs(base.pixelOf(400_000) - next.pixelOf(5_000)) < 1e-3);
  }
});

test('what is asked for stays within what was recorded', () => {
  const viewport = new Viewport(NEXT);
  viewport.bounds = { begin: -395_000, end: 605_000 };
  viewport.set(-395_000, 605_000);
  assert.deepEqual(viewport.recorded, NEXT);
  viewport.set(200_000, 300_000);
  assert.deepEqual(viewport.recorded, { begin: 89_999, end: 90_000 });
});
