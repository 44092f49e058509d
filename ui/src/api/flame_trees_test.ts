// Folded stacks and allocations become trees whose sums are right.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TableAnswer } from './types';
import { areWeights, difference, ofMemory, ofStacks } from './flame_trees';

test('stacks with a common beginning share it, the heaviest first', () => {
  const rows = [
    { stack: 'main;wait', total_ns: 30 },
    { stack: 'main;work;add', total_ns: 50 },
    { stack: 'main;work', total_ns: 5 },
  ];
  const table = { report: 'stacks', columns: [], rows, notes: [] } as unknown as TableAnswer;
  const root = ofStacks(table);
  assert.equal(root.total_ns, 85);
  const main = root.children![0]!;
  assert.deepEqual(
    main.children!.map((child) => [child.name, child.total_ns, child.self_ns]),
    [
      ['work', 55, 5],
      ['wait', 30, 30],
    ],
  );
});

test('stacks of a file without times are as wide as its weights', () => {
  const rows = [
    { stack: 'main;work', total_ns: null, calls: 7 },
    { stack: 'main', total_ns: null, calls: 2 },
  ];
  const table = { report: 'stacks', columns: [], rows, notes: [] } as unknown as TableAnswer;
  assert.ok(areWeights(table));
  const root = ofStacks(table);
  assert.deepEqual([root.total_ns, root.children![0]!.self_ns], [9, 2]);
});

test('what allocates nothing is no frame, and small ones keep their sum', () => {
  const root = ofMemory({
    name: 'all',
    total_bytes: 100,
    children: [
      { name: 'a', total_bytes: 90, merged: 3, merged_bytes: 10 },
      { name: 'b', total_bytes: 0 },
    ],
  });
  assert.equal(root.total_ns, 100);
  assert.deepEqual(
    root.children!.map((child) => [child.name, child.merged, child.merged_ns]),
    [['a', 3, 10]],
  );
});

test('a difference counts a step of either, and has what only one of them has', () => {
  const base = {
    name: 'all',
    total_ns: 100,
    children: [
      { name: 'mm', total_ns: 80 },
      { name: 'sync', total_ns: 20 },
    ],
  };
  const next = { name: 'all', total_ns: 90, children: [{ name: 'mm', total_ns: 90 }] };
  const apart = difference([base], [next], [2, 3], 'new');
  assert.deepEqual([apart.total_ns, apart.change_ns], [30, -20]);
  assert.deepEqual(
    apart.children!.map((child) => [child.name, child.total_ns, child.change_ns]),
    [
      ['mm', 30, -10],
      ['sync', 0, -10],
    ],
  );
  const wide = difference([base], [next], [2, 3], 'base');
  assert.deepEqual(
    wide.children!.map((child) => child.total_ns),
    [40, 10],
  );
});

test('what the other may have among its small ones is no difference', () => {
  const base = {
    name: 'all',
    total_ns: 100,
    children: [
      { name: 'mm', total_ns: 80 },
      { name: 'sync', total_ns: 19 },
      { name: 'add', total_ns: 1 },
    ],
  };
  const children = [{ name: 'mm', total_ns: 80 }];
  const next = { name: 'all', total_ns: 82, merged: 3, merged_ns: 2, children };
  const apart = difference([base], [next], [1, 1], 'base');
  assert.deepEqual(
    apart.children!.map((child) => child.name),
    ['mm', 'sync'],
  );
});

test('the steps of a recording are one call', () => {
  const stepped = (first: number, time: number) => ({
    name: 'all',
    total_ns: 2 * time,
    children: [first, first + 1].map((number) => ({
      name: `ProfilerStep#${number}`,
      total_ns: time,
      children: [{ name: 'mm', total_ns: time / 2 }],
    })),
  });
  const apart = difference([stepped(3, 10)], [stepped(8, 16)], [2, 2], 'new');
  assert.deepEqual(
    apart.children!.map((child) => [child.name, child.total_ns, child.change_ns]),
    [['ProfilerStep*', 16, 6]],
  );
  assert.deepEqual(
    apart.children![0]!.children!.map((child) => [child.name, child.total_ns, child.change_ns]),
    [['mm', 8, 3]],
  );
});
