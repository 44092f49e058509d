// A row leads to its time, else to its name; headings sort as the command line does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Column } from '../../api/types';
import { filterOf, leadOf, nextSort } from './rows';

const column = (name: string, kind: string): Column => ({ name, kind, unit: '', doc: '' });

test('a row with a begin leads to its time', () => {
  const columns = [column('start_ns', 'time_ns'), column('duration_ns', 'duration_ns')];
  assert.deepEqual(leadOf(columns, { start_ns: 5, duration_ns: 7 }), { begin: 5, end: 12 });
});

test('a row without a time leads to all of its name, or nowhere', () => {
  assert.deepEqual(leadOf([column('name', 'name')], { name: 'aten::mm' }), { name: 'aten::mm' });
  assert.equal(leadOf([column('metric', 'text')], { metric: 'busy' }), undefined);
});

test('quantities sort from the largest down, names from A', () => {
  const total = column('total_ns', 'duration_ns');
  assert.equal(nextSort('', total), '-total_ns');
  assert.equal(nextSort('-total_ns', total), '+total_ns');
  assert.equal(nextSort('', column('name', 'name')), '+name');
});

test('a plain word is a condition on names, what has an operator is left as it is', () => {
  const columns = [column('calls', 'count'), column('name', 'name')];
  assert.equal(filterOf('aten::mm', columns), 'name~aten::mm');
  assert.equal(filterOf('f(x) & calls>10', columns), 'name~f\\(x\\) & calls>10');
  assert.equal(filterOf('name~gemm', columns), 'name~gemm');
  assert.equal(filterOf('  ', columns), '');
  assert.equal(filterOf('gpu', [column('metric', 'text'), column('value', 'real')]), 'metric~gpu');
});
