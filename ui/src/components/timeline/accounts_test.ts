// The accounting lane is asked for by whole tiles, kept, and cancelled when it is not wanted any more.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TraceClient } from '../../api/client';
import { failed, okay } from '../../base/result';
import { Accounts, stretchOf } from './accounts';
import { Viewport } from './viewport';

const WHOLE = { begin: 0, end: 1_000_000_000 };

function viewportAt(begin: number, end: number): Viewport {
  const viewport = new Viewport(WHOLE);
  viewport.width = 1000;
  viewport.set(begin, end);
  return viewport;
}

class Recorder extends TraceClient {
  readonly asked: { path: string; signal: AbortSignal | undefined; answer: () => void }[] = [];
  constructor() {
    super(null);
  }
  override json<T>(path: string, signal?: AbortSignal) {
    return new Promise<ReturnType<typeof okay<T>>>((done) => {
      const answer = (): void => done(okay({ segments: [] } as T));
      this.asked.push({ path, signal, answer });
    });
  }
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

test('what lies in the same tiles is the same stretch, which has all in sight in it', () => {
  const one = stretchOf(viewportAt(500_000_000, 510_000_000));
  assert.deepEqual(stretchOf(viewportAt(500_100_000, 510_100_000)), one);
  assert.ok(one.begin <= 500_000_000 && one.end >= 510_100_000);
  // At most a tile more at either side, of at most 512 pixels each.
  assert.ok(one.end - one.begin <= 3 * 10_240_000);
  assert.deepEqual(stretchOf(viewportAt(0, 1_000_000_000)), WHOLE);
});

test('what came is not asked for again, and what is not wanted any more is cancelled', async () => {
  const client = new Recorder();
  const accounts = new Accounts(
    client,
    () => {},
    () => {},
  );
  const near = viewportAt(500_000_000, 510_000_000);
  accounts.want([0, 1], near);
  accounts.want([0, 1], near);
  assert.equal(client.asked.length, 2);
  client.asked[0]!.answer();
  await turn();
  accounts.want([0, 1], near);
  assert.equal(client.asked.length, 2, 'the second is still under way');
  assert.ok(!client.asked[1]!.signal?.aborted);
  accounts.want([0, 1], viewportAt(0, 1_000_000_000));
  assert.ok(client.asked[1]!.signal?.aborted);
  assert.equal(client.asked.length, 4);
  assert.ok(accounts.waiting);
  for (const each of client.asked) each.answer();
  await turn();
  accounts.want([0], near);
  assert.equal(client.asked.length, 4);
  assert.ok(!accounts.waiting);
});

test('a failure that passes is no answer, and what was asked for ends with the view', async () => {
  let asked = 0;
  const client = new TraceClient(null);
  client.json = () => {
    ++asked;
    return Promise.resolve(failed('unreachable', 'gone'));
  };
  const accounts = new Accounts(
    client,
    () => {},
    () => {},
  );
  const viewport = viewportAt(0, 1_000_000_000);
  accounts.want([0], viewport);
  await turn();
  assert.ok(!accounts.waiting);
  accounts.want([0], viewport);
  assert.equal(asked, 2);
  accounts.end();
  assert.ok(!accounts.waiting);
});
