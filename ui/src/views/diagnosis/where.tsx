// Phase 3: where in the step? By phase, then by module, then the costliest operators; each leads on.
import { useState } from 'preact/hooks';
import { durationText, percentText } from '../../base/format';
import { tablePath } from '../../api/urls';
import type { Diagnosis, TableAnswer } from '../../api/types';
import { DataTable } from '../../components/data_table';
import { Heads } from '../../components/heads';
import { Loading } from '../../components/notice';
import { latest, useAnswer } from '../../components/use_answer';
import { useStore } from '../../components/use_store';
import type { ViewContext } from '../view';

type Level = 'phase' | 'module' | 'operator';

const QUESTIONS: Readonly<Record<Exclude<Level, 'operator'>, { report: string; groupBy: string }>> =
  {
    phase: { report: 'accounting', groupBy: 'phase' },
    module: { report: 'modules', groupBy: '' },
  };

/** Columns without a value in any row say nothing. */
function told(table: TableAnswer): TableAnswer['columns'] {
  return table.columns.filter((column) =>
    table.rows.some(
      (row) => row[column.name] !== null && row[column.name] !== 0 && row[column.name] !== '',
    ),
  );
}

function Grouped(props: { level: 'phase' | 'module'; context: ViewContext }) {
  const { context, level } = props;
  const state = useStore(context.state);
  const question = QUESTIONS[level];
  const loaded = useAnswer<TableAnswer>(
    context.client,
    tablePath(
      question.report,
      { sort: '', filter: '', groupBy: question.groupBy, limit: 40 },
      state.scope,
    ),
  );
  if (loaded.state === 'failed') return <p class="soft">{loaded.error.message}</p>;
  const table = latest(loaded);
  if (!table) return <Loading what="Adding up" />;
  if (table.rows.length === 0)
    return <p class="soft">{table.notes.join(' ') || 'Nothing to show.'}</p>;
  return (
    <div class="short-table">
      <DataTable label={`Time by ${level}`} columns={told(table).slice(0, 9)} rows={table.rows} />
    </div>
  );
}

export function Where(props: { diagnosis: Diagnosis; context: ViewContext }) {
  const { diagnosis, context } = props;
  const [level, setLevel] = useState<Level>('operator');
  const { baseline } = diagnosis;
  return (
    <section aria-labelledby="where">
      <h2 id="where">Where in the step</h2>
      <div class="tabs" role="group" aria-label="By what">
        {(['phase', 'module', 'operator'] as const).map((each) => (
          <button key={each} aria-pressed={level === each} onClick={() => setLevel(each)}>
            By {each}
          </button>
        ))}
        <button
          class="quiet"
          onClick={() =>
            context.go({
              view: 'tables',
              report: level === 'operator' ? 'ops' : QUESTIONS[level].report,
              groupBy: level === 'phase' ? 'phase' : '',
            })
          }
        >
          Open the whole table
        </button>
      </div>
      {level !== 'operator' && <Grouped key={level} level={level} context={context} />}
      {level === 'operator' && baseline.operators.length === 0 && (
        <p class="soft">No operators were recorded.</p>
      )}
      {level === 'operator' && baseline.operators.length > 0 && (
        <table class="plain costliest">
          <Heads
            titles={['costliest operators', `#self time, ${baseline.operators_on}`, '#of all']}
          />
          <tbody>
            {baseline.operators.map((operator) => (
              <tr key={operator.name}>
                <th scope="row">
                  <button class="term" onClick={() => context.showName(operator.name)}>
                    {operator.name}
                  </button>
                </th>
                <td class="number">{durationText(operator.self_ns)}</td>
                <td class="number">
                  <i class="share" aria-hidden="true" style={{ width: `${operator.percent}%` }} />
                  <span>{percentText(operator.percent)}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {diagnosis.focus_next && (
        <p>
          <button onClick={() => context.setScope({ focus: diagnosis.focus_next ?? '' })}>
            Focus on {diagnosis.focus_next}
          </button>
        </p>
      )}
    </section>
  );
}
