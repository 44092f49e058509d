// Every report as a table, from the columns that it declares; a new report appears by itself.
import { useMemo, useState } from 'preact/hooks';
import { countText } from '../../base/format';
import { csvText } from '../../base/text';
import { AS_IT_IS, TABLE_SCOPE, tableCommand, tablePath, type TableQuestion } from '../../api/urls';
import type { Column, ReportInfo, Row, TableAnswer } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CopyButton, CopyCommand } from '../../components/copy_button';
import { DataTable } from '../../components/data_table';
import { Empty, Failed, Loading } from '../../components/notice';
import { latest, useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import { filterOf, leadOf, nextSort } from './rows';
import type { View, ViewContext } from '../view';
import { Aside, Quiet } from '../../components/plain';

/** Rows that are asked for at first; then always four times as many. */
const FIRST_ROWS = 5000;

function follow(context: ViewContext, columns: readonly Column[], row: Row): void {
  const lead = leadOf(columns, row);
  if (!lead) return;
  if ('name' in lead) context.showName(lead.name);
  else {
    const begin = lead.begin + context.origin;
    context.showTime(begin, begin + Math.max(lead.end - lead.begin, 1), lead.slice);
  }
}

function Report(props: { report: ReportInfo; context: ViewContext }) {
  const { report, context } = props;
  const state = useStore(context.state);
  const [most, setMost] = useState(FIRST_ROWS);
  const question: TableQuestion = {
    sort: state.sort,
    filter: state.filter,
    groupBy: state.groupBy,
    limit: most,
  };
  const loaded = useAnswer<TableAnswer>(
    context.client,
    tablePath(report.id, question, state.scope),
  );
  const table = latest(loaded);
  const rows = table?.rows ?? [];
  const told = useMemo(() => {
    if (!table) return [];
    const some = table.columns.filter((column) =>
      table.rows.some((row) => row[column.name] !== null),
    );
    return some.length > 0 ? some : table.columns;
  }, [table]);
  const hidden = (table?.columns.length ?? 0) - told.length;
  const command = (): string =>
    tableCommand(
      report.id,
      { ...question, limit: NaN },
      state.scope,
      context.session.input,
    ).replace(/ --limit NaN/, '');
  return (
    <section class="report" aria-labelledby="report-title" aria-busy={loaded.state === 'loading'}>
      <header>
        <h2 id="report-title">{report.title}</h2>
        <div class="toolbar">
          <input
            type="search"
            key={state.filter}
            defaultValue={state.filter}
            aria-label="Search or filter, for example gemm, or name~gemm & total_ns>1ms"
            placeholder="Search, or name~gemm & total_ns>1ms"
            onChange={(event) =>
              context.go({ filter: filterOf(event.currentTarget.value, report.columns) })
            }
          />
          {(report.group_by ?? []).length > 0 && (
            <label>
              <Aside>by </Aside>
              <select
                value={state.groupBy || report.group_by?.[0]}
                onChange={(event) => context.go({ groupBy: event.currentTarget.value, sort: '' })}
              >
                {report.group_by?.map((choice) => (
                  <option key={choice} value={choice}>
                    {choice.replaceAll('_', ' ')}
                  </option>
                ))}
              </select>
            </label>
          )}
          <span class="soft" role="status">
            {table
              ? `${countText(rows.length)}${(table.rows_total ?? rows.length) > rows.length ? ` of ${countText(table.rows_total ?? 0)}` : ''} rows`
              : ''}
          </span>
          {table &&
            (table.rows_total ?? 0) > rows.length &&
            context.client.connection !== 'carried' && (
              <Quiet onClick={() => setMost(4 * most)}>Show more rows</Quiet>
            )}
          <span class="grow" />
          <CopyButton
            label="Copy CSV"
            title="Copy the rows as CSV, with raw values"
            text={() =>
              csvText(
                (table?.columns ?? []).map((column) => column.name),
                rows,
              )
            }
          />
          <CopyCommand text={command} />
        </div>
      </header>
      <Beyond scope={state.scope} known={TABLE_SCOPE} />
      <Failed what="No table" of={loaded} />
      {!table && loaded.state === 'loading' && <Loading what="Computing" />}
      {table && rows.length === 0 && (
        <Empty title="No rows">
          {table.notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Empty>
      )}
      {table && rows.length > 0 && (
        <DataTable
          label={report.title}
          of={report.id}
          columns={told}
          rows={rows}
          sort={state.sort}
          onSort={(name) => {
            const column = table.columns.find((each) => each.name === name);
            if (column) context.go({ sort: nextSort(state.sort, column) });
          }}
          onRow={(row) => follow(context, table.columns, row)}
          rowTitle={leadOf(table.columns, rows[0] ?? {}) ? 'Show in the timeline' : ''}
        />
      )}
      <footer>
        {rows.length > 0 && table?.notes.map((note) => <p key={note}>{note}</p>)}
        {hidden > 0 && rows.length > 0 && (
          <p>
            {hidden} {hidden === 1 ? 'column has' : 'columns have'} no value in any row and{' '}
            {hidden === 1 ? 'is' : 'are'} not shown.
          </p>
        )}
        <details>
          <summary>What the table says</summary>
          <p>{report.doc}</p>
          <dl class="columns-doc">
            {(table?.columns ?? report.columns).map((column) => (
              <div key={column.name}>
                <dt>{column.name}</dt>
                <dd>{column.doc}</dd>
              </div>
            ))}
          </dl>
        </details>
      </footer>
    </section>
  );
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const state = useStore(context.state);
  useDiagnosis(context.client, null);
  const loaded = useAnswer<{ reports: ReportInfo[] }>(context.client, 'api/reports');
  if (loaded.state === 'failed') return <Failed what="No tables" of={loaded} />;
  const reports = latest(loaded)?.reports;
  if (!reports) return <Loading what="Looking for tables" />;
  const report = reports.find((each) => each.id === state.report) ?? reports[0];
  return (
    <div class="tables">
      <nav class="side" aria-label="Tables">
        {reports.map((each) => (
          <button
            key={each.id}
            aria-current={each === report ? 'true' : undefined}
            title={each.title}
            onClick={() => context.go({ report: each.id, ...AS_IT_IS })}
          >
            {each.id.replaceAll('-', ' ')}
          </button>
        ))}
      </nav>
      {report && <Report key={report.id} report={report} context={context} />}
    </div>
  );
}

export const tables: View = { id: 'tables', title: 'Tables', mount: mounted(Screen) };
