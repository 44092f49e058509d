// A table of any length: only the rows in sight are in the document.
import { listen } from '../base/listen';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { isNumber } from '../base/column_kind';
import { headingText, valueText, valueTextIn } from '../base/format';
import type { Column, Row } from '../api/types';
import { Term } from './plain';

export const ROW = 26;
const AROUND = 12;

/** What a cell says. Rows of `overview` and its like name their own unit. */
export function cellText(column: Column, row: Row): string {
  const value = row[column.name];
  if (column.name === 'value' && typeof row['unit'] === 'string') {
    return valueTextIn(value, row['unit']);
  }
  return valueText(value, column.kind);
}

export interface DataTableProps {
  readonly label: string;
  /** The report that the columns are of. */
  readonly of: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly sort?: string;
  readonly onSort?: (column: string) => void;
  readonly onRow?: (row: Row) => void;
  readonly rowTitle?: string;
  readonly after?: ComponentChildren;
}

const SUMS = /total|self|sum|busy|idle|window|duration|gap|bytes|time|percent|share/;
const NO_SUMS = /mean|median|min|max|std|p\d\d|occupancy|begin|start|end_|_end/;

/** Share bars, against the largest value of the column: of columns that add up, such as a total, not of means. */
function sharesOf(columns: readonly Column[], rows: readonly Row[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const { name, kind } of columns) {
    if (!['percent', 'duration_ns', 'bytes'].includes(kind)) continue;
    if (!SUMS.test(name) || NO_SUMS.test(name)) continue;
    let largest = 0;
    for (const row of rows) {
      const value = row[name];
      if (typeof value === 'number' && value > largest) largest = value;
    }
    if (largest > 0) most.set(name, largest);
  }
  return most;
}

/** Columns whose cells are words of the program's own. */
const TERMS =
  /^(bucket|phase|class|launch_advice|occupancy_limiter|bound|opener|reason|part|status|waits_for|role|verdict|rule)$/;

const direction = (sort: string, column: string): 'ascending' | 'descending' | 'none' => {
  if (sort === `-${column}` || sort === `${column}:desc`) return 'descending';
  if (sort === `+${column}` || sort === `${column}:asc`) return 'ascending';
  return 'none';
};

export function DataTable(props: DataTableProps) {
  const box = useRef<HTMLDivElement>(null);
  const [first, setFirst] = useState(0);
  const [room, setRoom] = useState(40);
  const [focus, setFocus] = useState(0);
  const { rows, columns } = props;
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const measure = (): void => {
      setFirst(Math.max(0, Math.floor(element.scrollTop / ROW) - AROUND));
      setRoom(Math.ceil(element.clientHeight / ROW) + 2 * AROUND);
    };
    measure();
    const watch = new ResizeObserver(measure);
    watch.observe(element);
    const end = listen(element, 'scroll', measure, { passive: true });
    return () => {
      watch.disconnect();
      end();
    };
  }, []);
  useEffect(() => {
    if (box.current) box.current.scrollTop = 0;
    setFocus(0);
  }, [rows]);
  const start = Math.min(first, Math.max(0, rows.length - 1));
  const shown = rows.slice(start, start + room);
  const shares = sharesOf(columns, rows);
  const move = (event: KeyboardEvent, at: number): void => {
    const jump: Readonly<Record<string, number>> = {
      ArrowDown: at + 1,
      ArrowUp: at - 1,
      PageDown: at + 20,
      PageUp: at - 20,
      Home: 0,
      End: rows.length - 1,
    };
    const target = jump[event.code];
    // On a word in a cell, Enter leads to its definition.
    if (event.code === 'Enter' && props.onRow && event.target === event.currentTarget) {
      const row = rows[at];
      if (row) props.onRow(row);
      event.preventDefault();
    } else if (target !== undefined) {
      event.preventDefault();
      const next = Math.max(0, Math.min(rows.length - 1, target));
      setFocus(next);
      const element = box.current;
      if (!element) return;
      if (next * ROW < element.scrollTop) element.scrollTop = next * ROW;
      const bottom = (next + 3) * ROW - element.clientHeight;
      if (bottom > element.scrollTop) element.scrollTop = bottom;
      const focusRow = (): boolean => {
        const row = element.querySelector<HTMLElement>(`tr[data-at="${next}"]`);
        row?.focus({ preventScroll: true });
        return row !== null;
      };
      // At once, where it can be: a key that is held comes more often than a frame.
      if (!focusRow()) requestAnimationFrame(focusRow);
    }
  };
  return (
    <div class="table-box" ref={box} tabIndex={-1}>
      <table aria-label={props.label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => {
              const sorted = direction(props.sort ?? '', column.name);
              return (
                <th
                  key={column.name}
                  scope="col"
                  class={isNumber(column) ? 'number' : ''}
                  aria-sort={sorted}
                  title={column.doc}
                >
                  {props.onSort ? (
                    <button onClick={() => props.onSort?.(column.name)}>
                      {headingText(column.name, column.unit)}
                      <span aria-hidden="true">
                        {sorted === 'descending' ? ' ▾' : sorted === 'ascending' ? ' ▴' : ''}
                      </span>
                    </button>
                  ) : (
                    headingText(column.name, column.unit)
                  )}
                  {props.onSort && (
                    <Term id={column.name}>
                      ?<span class="hidden"> definition of {column.name}</span>
                    </Term>
                  )}
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {start > 0 && (
            <tr aria-hidden="true" class="pad">
              <td colSpan={columns.length} style={{ height: `${start * ROW}px` }} />
            </tr>
          )}
          {shown.map((row, i) => {
            const at = start + i;
            return (
              <tr
                key={at}
                data-at={at}
                aria-rowindex={at + 2}
                tabIndex={at === focus ? 0 : -1}
                class={props.onRow ? 'link' : ''}
                title={props.rowTitle}
                onFocus={() => setFocus(at)}
                onKeyDown={(event) => move(event, at)}
                onClick={(event) =>
                  (event.target as Element).closest('.term') ?? props.onRow?.(row)
                }
              >
                {columns.map((column) => {
                  const text = cellText(column, row);
                  const most = shares.get(column.name);
                  const value = row[column.name];
                  return (
                    <td
                      key={column.name}
                      class={isNumber(column) ? 'number' : 'words'}
                      data-n={isNumber(column) ? `${props.of}.${column.name}` : undefined}
                      title={isNumber(column) ? undefined : text}
                    >
                      {most !== undefined && typeof value === 'number' && value > 0 && (
                        <i
                          class="share"
                          aria-hidden="true"
                          style={{ width: `${Math.min(100, (100 * value) / most)}%` }}
                        />
                      )}
                      <span>{TERMS.test(column.name) && text ? <Term id={text} /> : text}</span>
                    </td>
                  );
                })}
              </tr>
            );
          })}
          {start + shown.length < rows.length && (
            <tr aria-hidden="true" class="pad">
              <td
                colSpan={columns.length}
                style={{ height: `${(rows.length - start - shown.length) * ROW}px` }}
              />
            </tr>
          )}
        </tbody>
      </table>
      {props.after}
    </div>
  );
}
