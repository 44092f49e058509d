// Changes become options, and of many drags the last one is answered.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOn, scaled, scaleOf, switched } from './changes';
import { LatestWins } from './latest_wins';

test('a target keeps its place when it is scaled again', () => {
  let changes = scaled([], 'aten::mm', 0.5);
  changes = switched(changes, 'remove-syncs');
  changes = scaled(changes, 'aten::mm', 0.1 + 0.2);
  assert.deepEqual(changes, [
    ['scale', 'aten::mm=0.3'],
    ['remove-syncs', ''],
  ]);
  assert.ok(isOn(changes, 'remove-syncs'));
  assert.ok(!isOn(switched(changes, 'remove-syncs'), 'remove-syncs'));
});

test('the last sign of equality divides target and factor', () => {
  assert.deepEqual(scaleOf('kernel:a=b=0.25'), { target: 'kernel:a=b', factor: 0.25 });
});

test('one question at a time, the latest always, none in between', async () => {
  const asked: number[] = [];
  const answered: number[] = [];
  const waiting: (() => void)[] = [];
  const queue = new LatestWins<number, number>(
    (question) => {
      asked.push(question);
      return new Promise((done) => waiting.push(() => done(question * 10)));
    },
    (answer) => answered.push(answer),
  );
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  for (const question of [1, 2, 3, 4]) queue.put(question);
  assert.deepEqual(asked, [1]);
  waiting.shift()?.();
  await turn();
  assert.deepEqual(asked, [1, 4]);
  waiting.shift()?.();
  await turn();
  assert.deepEqual(answered, [10, 40]);
  queue.put(5);
  queue.end();
  waiting.shift()?.();
  await turn();
  assert.deepEqual(answered, [10, 40]);
});

test('what nobody wants any more is cancelled and not told', async () => {
  const answered: number[] = [];
  const signals: AbortSignal[] = [];
  const waiting: (() => void)[] = [];
  const queue = new LatestWins<number, number>(
    (question, signal) => {
      signals.push(signal);
      return new Promise((done) => waiting.push(() => done(question * 10)));
    },
    (answer) => answered.push(answer),
  );
  const turn = (): Promise<void> => new Promise((done) => setImmediate(done));
  queue.put(1);
  queue.clear();
  assert.ok(signals[0]?.aborted);
  waiting.shift()?.();
  await turn();
  queue.put(2);
  assert.ok(!signals[1]?.aborted);
  waiting.shift()?.();
  await turn();
  assert.deepEqual(answered, [20]);
  queue.put(3);
  queue.end();
  assert.ok(signals[2]?.aborted);
});
