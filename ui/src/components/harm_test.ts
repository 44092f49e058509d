// A pattern of numbers becomes the selector of the elements that have them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectorOf } from './harm';

test('a pattern selects a number, those of a place, or those of a name', () => {
  assert.equal(selectorOf('ops.calls'), '[data-n="ops.calls"]');
  assert.equal(selectorOf('gaps.*'), '[data-n^="gaps."]');
  assert.equal(selectorOf('*.total_ns'), '[data-n$=".total_ns"]');
});
