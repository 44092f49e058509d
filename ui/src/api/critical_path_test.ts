// A path that was cut off is shown with how many pieces are missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { saidOfPath } from './critical_path';

test('pieces that are missing are counted, and a whole path has no such note', () => {
  assert.equal(saidOfPath({ slices: [1, 2], left_off: 0 }), 'Critical path: 2 slices');
  assert.match(saidOfPath({ slices: [1], left_off: 7 }), /1 slices; 7 later pieces are not lit/);
});
