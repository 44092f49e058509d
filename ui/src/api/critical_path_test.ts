// What is not lit is said.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidOfPath } from './critical_path';

test('a path that is cut off says so, and a whole one does not', () => {
  assert.equal(saidOfPath({ slices: [1, 2], left_off: 0 }), 'Critical path: 2 slices');
  assert.match(saidOfPath({ slices: [1], left_off: 7 }), /1 slices; 7 later pieces are not lit/);
});
