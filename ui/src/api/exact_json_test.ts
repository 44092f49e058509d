// Integers above 2^53 keep their digits; nothing else changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactJson } from './exact_json';

test('an integer that a number cannot hold is text', () => {
  assert.deepEqual(exactJson('{"unix":1752830083332596028,"low":[-9007199254740993]}'), {
    unix: '1752830083332596028',
    low: ['-9007199254740993'],
  });
});

test('what a number holds, and what is text, stays', () => {
  const text = JSON.stringify({
    most: Number.MAX_SAFE_INTEGER,
    part: 0.1234567890123456,
    large: 1.5e300,
    digits: 'a "1752830083332596028", \\',
    '1752830083332596028': null,
  });
  assert.deepEqual(exactJson(text), JSON.parse(text));
});
