// A link holds the whole picture, and a broken one harms nothing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WHOLE } from './scope';
import { decodeState, encodeState, START, type ViewState } from './view_state';

const FULL: ViewState = {
  view: 'timeline',
  scope: { steps: '3-7', device: '1', window: '10ms:25ms', focus: 'backward', input: '2' },
  top: 120,
  visible: [1_000_000, 2_500_000],
  slice: 4711,
  area: { begin: 5, end: 99, tracks: [1, 22] },
  pins: [3, 4],
  marks: [
    { at: 12, label: 'a & b = c #1' },
    { at: 13, label: '<img onerror=alert(1)>' },
  ],
  changes: [
    ['scale', 'aten::mm=0.5'],
    ['scale', 'kernel:^volta_.*$=0.25'],
    ['remove-syncs', ''],
  ],
  whatIf: true,
  report: 'kernels',
  sort: '-total_ns',
  filter: 'name~gemm & total_ns>1ms',
  groupBy: 'op',
  finding: 'syncs/aten::item',
  search: 'größe %41',
  width: 'memory',
  order: 'time',
  frames: 'conv & bn',
  turned: [3, 8],
  closed: ['device 0', 'a=b'],
  critical: true,
};

test('what is written is read again', () => {
  assert.deepEqual(decodeState(encodeState(FULL)), FULL);
  assert.deepEqual(decodeState(`#${encodeState(FULL)}`), FULL);
});

test('the start has an empty fragment', () => {
  assert.equal(encodeState(START), '');
  assert.deepEqual(decodeState(''), START);
});

test('a selected area without tracks is one of all tracks', () => {
  const state = { ...START, area: { begin: 1, end: 2, tracks: [] } };
  assert.deepEqual(decodeState(encodeState(state)), state);
});

test('nonsense is left out', () => {
  const state = decodeState('v=tables&t=9-3&s=x&a=1-2&m=:a&w=&%%%&=3&steps=%E0%A4%A&unknown=1');
  assert.equal(state.view, 'tables');
  assert.equal(state.visible, null);
  assert.equal(state.slice, null);
  assert.equal(state.area, null);
  assert.deepEqual(state.scope, WHOLE);
  assert.deepEqual(state.marks, []);
});

test('the fragment never has a separator that was not escaped', () => {
  const fragment = encodeState({ ...START, search: 'a&v=memory#x' });
  assert.equal(fragment.split('&').length, 1);
  assert.equal(decodeState(fragment).view, 'diagnosis');
});
