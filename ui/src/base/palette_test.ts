// The parts of an accounting keep every nanosecond, and no two of them look alike.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paintOf, partsOf } from './palette';

const DEVICE =
  'compute communication memcpy memset input allocation sync dispatch python dependency launch_latency device_wait host_unknown warm_up';

test('every nanosecond is in one part', () => {
  const account = Object.fromEntries(DEVICE.split(' ').map((id, i) => [id, 10 ** (i % 5)]));
  const whole = Object.values(account).reduce((sum, ns) => sum + ns, 0);
  assert.equal(
    partsOf(account).reduce((sum, part) => sum + part.ns, 0),
    whole,
  );
});

test('copies and fills are one part, as on the command line', () => {
  const parts = partsOf({ memcpy: 3, memset: 4, compute: 0 });
  assert.deepEqual(
    parts.map((part) => [part.paint.name, part.ns]),
    [['copies', 7]],
  );
});

test('a bucket that is not known is shown by its name', () => {
  assert.deepEqual(
    partsOf({ new_bucket: 5 }).map((part) => part.paint.name),
    ['new_bucket'],
  );
});

test('no two buckets share hue and hatching', () => {
  const looks = new Map<string, string>();
  for (const id of DEVICE.split(' ')) {
    const paint = paintOf(id);
    const look = `${paint.colour}/${paint.hatch}`;
    const before = looks.get(look);
    assert.ok(before === undefined || before === paint.css, `${id} looks like ${before}`);
    looks.set(look, paint.css);
  }
});

test('ids with hyphens and blanks are the same ids', () => {
  assert.equal(paintOf('warm-up'), paintOf('warm_up'));
  assert.equal(paintOf('launch latency'), paintOf('launch_latency'));
});
