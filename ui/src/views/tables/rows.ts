// Where a row of a table leads, and how a click on a heading sorts.
import type { Column, Row } from '../../api/types';
import { isNumber } from '../../base/column_kind';

/** Where a row leads: to a time of its own, else to all slices of its name. */
export function leadOf(
  columns: readonly Column[],
  row: Row,
): { begin: number; end: number; slice?: number } | { name: string } | undefined {
  const named = (pattern: RegExp): number | undefined => {
    const column = columns.find(
      (each) => pattern.test(each.name) && typeof row[each.name] === 'number',
    );
    return column && (row[column.name] as number);
  };
  const begin = named(/^(begin|start)_ns$/) ?? named(/_(begin|start)_ns$/);
  if (begin !== undefined) {
    const end = named(/^end_ns$/);
    const length = named(/^(duration|window|gap|length|idle)_ns$/) ?? 0;
    const slice = named(/^slice$/);
    return { begin, end: end ?? begin + length, ...(slice === undefined ? {} : { slice }) };
  }
  for (const key of ['name', 'kernel', 'op', 'operator', 'call', 'range']) {
    const value = row[key];
    if (typeof value === 'string' && value !== '') return { name: value };
  }
  return undefined;
}

/** What is typed as a filter: a part without an operator is a word that names are to hold. */
export function filterOf(typed: string, columns: readonly Column[]): string {
  const named =
    columns.find((column) => column.kind === 'name') ?? columns.find((each) => !isNumber(each));
  return typed
    .split('&')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) =>
      named && !/[~<>=]/.test(part)
        ? `${named.name}~${part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}`
        : part,
    )
    .join(' & ');
}

/** A click sorts by a column as the command line would: quantities from the largest down; again, the other way. */
export function nextSort(sort: string, column: Column): string {
  const [first, second] = isNumber(column) ? ['-', '+'] : ['+', '-'];
  return sort === `${first}${column.name}` ? `${second}${column.name}` : `${first}${column.name}`;
}
