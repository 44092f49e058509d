// What a slice's button sends, fathom whatif takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { halved } from './halved';

test('a kernel is halved by its pattern, a call of the host by its name', () => {
  assert.deepEqual(halved('f<4>(a)', 'kernel'), ['scale', 'kernel:^f<4>\\(a\\)$=0.5']);
  assert.deepEqual(halved('Memcpy HtoD', 'memcpy'), ['scale', 'kernel:^Memcpy HtoD$=0.5']);
  assert.deepEqual(halved('aten::mm', 'cpu_op'), ['scale', 'aten::mm=0.5']);
});
