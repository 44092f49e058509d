// A single long step is seen, wherever it is.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { longestOf } from './longest_steps';

const steps = (count: number, long: number) =>
  Array.from({ length: count }, (_, step) => ({ step, window_ns: step === long ? 9 : 1 }));

test('each long step is shown, in order', () => {
  for (const long of [0, 1, 499, 998, 999]) {
    const shown = longestOf(steps(1000, long), 240);
    assert.equal(shown.length, 240);
    assert.ok(shown.some(({ step }) => step === long));
    assert.ok(shown.every(({ step }, i) => i === 0 || step > (shown[i - 1]?.step ?? 0)));
  }
});

test('few steps are all shown', () => {
  assert.equal(longestOf(steps(240, 3), 240).length, 240);
});
