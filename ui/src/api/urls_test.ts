// Questions have one spelling each, and each has a command line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHOLE } from '../base/scope';
import {
  diagnoseCommand,
  pathOf,
  tableCommand,
  tablePath,
  whatIfCommand,
  whatIfPath,
  withInput,
} from './urls';

test('options are sorted, encoded, and left out where empty', () => {
  assert.equal(
    pathOf('api/x', [
      ['z', 'a b&c'],
      ['a', 1],
      ['m', ''],
    ]),
    'api/x?a=1&z=a%20b%26c',
  );
  assert.equal(pathOf('api/x'), 'api/x');
});

test('a table is asked with the options of the command line', () => {
  const question = {
    sort: '-total_ns',
    filter: 'name~gemm & total_ns>1ms',
    groupBy: 'op',
    limit: 10,
  };
  const scope = { ...WHOLE, steps: '3-7' };
  assert.equal(
    tablePath('kernels', question, scope),
    'api/reports/kernels?filter=name~gemm&filter=total_ns%3E1ms&group-by=op&limit=10&sort=-total_ns&steps=3-7',
  );
  assert.equal(
    tableCommand('kernels', question, scope, 'my trace.json'),
    "fathom kernels --sort -total_ns --filter name~gemm --filter 'total_ns>1ms' --group-by op --limit 10 --steps 3-7 'my trace.json'",
  );
});

test('a what-if has the same changes in path and command', () => {
  const changes = [
    ['scale', 'aten::mm=0.5'],
    ['remove-syncs', ''],
  ] as const;
  assert.equal(whatIfPath(changes, WHOLE), 'api/whatif?remove-syncs=1&scale=aten%3A%3Amm%3D0.5');
  assert.equal(
    whatIfCommand(changes, WHOLE, 't.json'),
    'fathom whatif --scale aten::mm=0.5 --remove-syncs t.json',
  );
});

test('another recording is one more option, in its place', () => {
  assert.equal(withInput('api/tracks', '2'), 'api/tracks?input=2');
  assert.equal(withInput('api/x?a=1&z=2', '3'), 'api/x?a=1&input=3&z=2');
  assert.equal(withInput('api/x?a=1', ''), 'api/x?a=1');
  assert.equal(withInput('api/x?a=1', '0'), 'api/x?a=1');
});

test('a diagnosis has its scope in its command', () => {
  const scope = { ...WHOLE, focus: 'backward' };
  assert.equal(diagnoseCommand(scope, 't'), 'fathom diagnose --focus backward t');
});
