// Slices lead to the rows that count them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsOf } from './rows_of';
import type { SliceAnswer } from './types';

const slice = (kind: string, name: string, more: object = {}): SliceAnswer =>
  ({ id: 1, begin_ns: 0, duration_ns: 1, kind, name, ...more }) as unknown as SliceAnswer;

test('names of one table are one filter, each once', () => {
  const slices = [
    slice('python_function', 'step'),
    slice('kernel', 'f<int>(int*)'),
    slice('kernel', 'g'),
    slice('cpu_op', 'aten::mm'),
    slice('kernel', 'g'),
  ];
  assert.deepEqual(rowsOf(slices), { report: 'kernels', filter: 'name~^f<int>\\(int\\*\\)$|^g$' });
});

test('a name with the sign between conditions stays one condition', () => {
  assert.deepEqual(rowsOf([slice('kernel', 'f(T const&)')]), {
    report: 'kernels',
    filter: 'name~^f\\(T const.\\)$',
  });
});

test('a call that launched is among launches, another among waits', () => {
  const launch = slice('runtime', 'cudaLaunchKernel', { links: { kernels_total: 1 } });
  assert.equal(rowsOf([launch])?.report, 'launches');
  assert.equal(rowsOf([slice('runtime', 'cudaDeviceSynchronize')])?.report, 'syncs');
});

test('copies are kept apart by where they go', () => {
  const copy = slice('memcpy', 'Memcpy HtoD', {
    copy_kind: 'HtoD',
    source: 'pageable',
    destination: 'device',
  });
  assert.deepEqual(rowsOf([copy]), {
    report: 'copies',
    filter: 'kind=HtoD & source=pageable & destination=device',
  });
});

test('what no table counts leads nowhere, and long names end the filter', () => {
  assert.equal(rowsOf([]), null);
  assert.equal(rowsOf([slice('python_function', 'step')]), null);
  const long = rowsOf([slice('cpu_op', 'aten::mm'), slice('cpu_op', 'x'.repeat(5000))]);
  assert.deepEqual(long, { report: 'ops', filter: 'name~^aten::mm$' });
  assert.deepEqual(rowsOf([slice('cpu_op', 'x'.repeat(5000))]), { report: 'ops', filter: '' });
});
