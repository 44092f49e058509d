// Questions have one spelling each, and each has a command line.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { execFileSync } from 'node:child_process';
import { WHOLE } from '../base/scope';
import { decodeState, START } from '../base/view_state';
import type { SessionInfo } from './types';
import {
  diagnoseCommand,
  pathOf,
  tableCommand,
  tablePath,
  typedInputs,
  viewCommand,
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
  const session: SessionInfo = { state: 'ready', input: 't', command: 'fathom view u' };
  assert.equal(
    diagnoseCommand(scope, session, { ranks: null }),
    'fathom diagnose --focus backward t',
  );
});

test('ranks are diagnosed by the inputs that were typed, one of them by its own', () => {
  const session: SessionInfo = {
    state: 'ready',
    input: 'my runs/rank0.json',
    command: "fathom view --steps 3-7 --window '1 ms:it'\\''s' 'my runs' --odd",
  };
  assert.equal(typedInputs(session), "'my runs' --odd");
  const all = diagnoseCommand({ ...WHOLE, steps: '3' }, session, { ranks: {} });
  assert.equal(all, "fathom diagnose --steps 3 'my runs' --odd");
  const one = diagnoseCommand({ ...WHOLE, input: '1' }, session, { ranks: null });
  assert.equal(one, "fathom diagnose 'my runs/rank0.json'");
  assert.equal(typedInputs({ state: 'ready', input: 'a b' }), "'a b'");
});

test('a picture that no other command shows is opened by its link', () => {
  const session: SessionInfo = { state: 'ready', input: 't', command: "fathom view 'a b'" };
  const state = { ...START, view: 'flame', width: 'memory', scope: { ...WHOLE, steps: '3-7' } };
  assert.equal(viewCommand(state, session), "fathom view 'a b''#v=flame&steps=3-7&width=memory'");
  const words = execFileSync('sh', ['-c', `set -- ${viewCommand(state, session)}; printf %s "$3"`]);
  const [input, fragment = ''] = words.toString().split('#');
  assert.equal(input, 'a b');
  assert.deepEqual(decodeState(fragment), state);
});
