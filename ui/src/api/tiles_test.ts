// What nobody looks at any more is not fetched.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed } from '../base/result';
import type { TraceClient } from './client';
import { Tiles } from './tiles';

test('an ended view cancels what is under way, and asks for nothing that waits', async () => {
  const signals: AbortSignal[] = [];
  const client = {
    binary: (_: string, signal: AbortSignal) =>
      new Promise((done) => {
        signals.push(signal);
        signal.addEventListener('abort', () => done(failed('aborted', '')));
      }),
  } as unknown as TraceClient;
  let told = 0;
  const chunks = Array.from({ length: 20 }, (_, i) => [i]);
  const tiles = new Tiles(client, 'd', chunks, 10, () => ++told);
  tiles.want(new Set(chunks.flat()), 3, 0, 1e5);
  const asked = signals.length;
  assert.ok(asked > 0 && asked < chunks.length && tiles.waiting);
  tiles.end();
  await new Promise((done) => setImmediate(done));
  assert.ok(signals.every((signal) => signal.aborted));
  assert.equal(signals.length, asked);
  assert.equal(told, 0);
  assert.ok(!tiles.waiting);
});

test('of very many tracks those in sight are asked for at once, and not all of the others', async () => {
  const paths: string[] = [];
  const client = {
    binary: (path: string) => {
      paths.push(path);
      return Promise.resolve(failed('internal', ''));
    },
  } as unknown as TraceClient;
  const chunks = Array.from({ length: 4000 }, (_, i) => [i]);
  const tiles = new Tiles(client, 'd', chunks, 10, () => undefined);
  tiles.want(new Set([3000]), 3, 0, 100);
  assert.match(paths[0] ?? '', /tracks=3000/);
  while (tiles.waiting) await new Promise((done) => setImmediate(done));
  assert.ok(paths.length < 100, String(paths.length));
  assert.ok(paths.some((path) => path.includes('level=3') && path.endsWith('tracks=3000')));
});
