// Sorts the rows of a table as the command line does (src/engine/query/sort.cc).
import type { Row, TableAnswer } from './types';

const LARGEST_FIRST = ['count', 'duration_ns', 'bytes', 'real', 'percent'];

function compare(a: unknown, b: unknown): number {
  const words = typeof a === 'string' || typeof b === 'string';
  if (words && typeof a !== typeof b) return typeof a === 'string' ? 1 : -1;
  const [x, y] = words ? [a as string, b as string] : [Number(a), Number(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Missing values come after all others, in either direction. */
function compareCells(a: unknown, b: unknown, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return descending ? compare(b, a) : compare(a, b);
}

/** `sort` is "column", "-column" or "+column". */
export function inOrder(table: TableAnswer, sort: string): readonly Row[] {
  const name = sort.replace(/^[-+]/, '');
  const column = table.columns.find((each) => each.name === name);
  if (!column) return table.rows;
  const descending = sort.startsWith('-')
    ? true
    : !sort.startsWith('+') && LARGEST_FIRST.includes(column.kind);
  const rest = table.columns.map((each) => each.name);
  return [...table.rows].sort((a, b) => {
    const byKey = compareCells(a[name] ?? null, b[name] ?? null, descending);
    if (byKey !== 0) return byKey;
    for (const other of rest) {
      const order = compareCells(a[other] ?? null, b[other] ?? null, false);
      if (order !== 0) return order;
    }
    return 0;
  });
}
