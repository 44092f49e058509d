// From the whole to a phase, to a module in it, to the operators there: each level sums to the one above.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { placeTimes, workedOn } from './place_times';

const row = (name: string, phase: string | null, module: string | null, device: number) => ({
  name,
  phase,
  module,
  device_self_ns: device,
  host_self_ns: 7,
});
const ROWS = [
  row('mm', 'forward', 'Net.a', 30),
  row('add', 'forward', 'Net.a', 10),
  row('mm', 'forward', 'Net.b', 20),
  row('mm', 'backward', null, 35),
  row('(no operator)', null, null, 5),
];

test('each level sums to what was chosen above it', () => {
  const names = (times: ReturnType<typeof placeTimes>) =>
    times.map((each) => [each.name, each.self_ns]);
  assert.deepEqual(names(placeTimes(ROWS, 'phase', {})), [
    ['forward', 60],
    ['backward', 35],
    ['', 5],
  ]);
  assert.deepEqual(names(placeTimes(ROWS, 'module', { phase: 'forward' })), [
    ['Net.a', 40],
    ['Net.b', 20],
  ]);
  assert.deepEqual(placeTimes(ROWS, 'name', { phase: 'forward', module: 'Net.a' }), [
    { name: 'mm', self_ns: 30, percent: 30 },
    { name: 'add', self_ns: 10, percent: 10 },
  ]);
});

test('without work on a device it is time on the host', () => {
  const idle = ROWS.map((each) => ({ ...each, device_self_ns: null }));
  assert.equal(placeTimes(idle, 'phase', {})[0]?.self_ns, 21);
  assert.equal(workedOn(idle), 'host');
  assert.equal(workedOn(ROWS), 'device');
});
