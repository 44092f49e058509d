// Phase 3: where in the step? A phase leads to its modules, a module to its operators, an operator to its calls.
import { useState } from 'preact/hooks';
import { durationText, percentText } from '../../base/format';
import { placeTimes, workedOn, type Place } from '../../api/place_times';
import { AS_IT_IS, TABLE_SCOPE, tablePath } from '../../api/urls';
import type { Diagnosis, TableAnswer } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { Loading } from '../../components/notice';
import { Num, Quiet, RowHead, Section, Small, Soft, Term } from '../../components/plain';
import { Tabs } from '../../components/tabs';
import { latest, useAnswer } from '../../components/use_answer';
import { useStore } from '../../components/use_store';
import type { ViewContext } from '../view';

const LEVELS = ['phase', 'module', 'operator'] as const;
type Level = (typeof LEVELS)[number];
const MOST_ROWS = 40;
/** As in Tables: a page in a file carries that answer. */
const MOST_PLACES = 5000;

export function Where(props: { diagnosis: Diagnosis; context: ViewContext }) {
  const { diagnosis, context } = props;
  const { scope } = useStore(context.state, 'scope');
  const [level, setLevel] = useState<Level>('operator');
  const [place, setPlace] = useState<Place>({});
  const { baseline } = diagnosis;
  const inside = Object.values(place).map((name) => name || '(none)');
  // The costliest operators of all are in the diagnosis.
  const asked = level !== 'operator' || inside.length > 0;
  const loaded = useAnswer<TableAnswer>(
    context.client,
    asked ? tablePath('ops', { ...AS_IT_IS, groupBy: 'place', limit: MOST_PLACES }, scope) : null,
  );
  const table = latest(loaded);
  const by = level === 'operator' ? 'name' : level;
  const column = `ops.${table && workedOn(table.rows)}_self_`;
  const times = asked ? table && placeTimes(table.rows, by, place) : baseline.operators;
  const choose = (next: Level): void => {
    const { phase } = place;
    if (next !== 'operator') setPlace(next === 'phase' || phase === undefined ? {} : { phase });
    setLevel(next);
  };
  const lead = (name: string): void => {
    if (level === 'operator') context.showName(name);
    else {
      setPlace({ ...place, [level]: name });
      setLevel(level === 'phase' ? 'module' : 'operator');
    }
  };
  return (
    <Section id="where" title="Where in the step">
      <Tabs label="By what" word="By" choices={LEVELS} chosen={level} onChoose={choose}>
        <Quiet
          onClick={() =>
            context.go({
              view: 'tables',
              ...AS_IT_IS,
              report: { phase: 'accounting', module: 'modules', operator: 'ops' }[level],
              groupBy: { phase: 'phase', module: '', operator: inside[0] ? 'place' : '' }[level],
            })
          }
        >
          Open the whole table
        </Quiet>
      </Tabs>
      {asked && <Beyond scope={scope} known={TABLE_SCOPE} />}
      {inside[0] && (
        <p>
          In {inside.join(' › ')} <Quiet onClick={() => choose('phase')}>Everything</Quiet>
        </p>
      )}
      {asked && loaded.state === 'failed' && <Soft>{loaded.error.message}</Soft>}
      {asked && !table && loaded.state === 'loading' && <Loading what="Adding up" />}
      {times?.length === 0 && <Soft>No operators were recorded.</Soft>}
      {times && times.length > 0 && (
        <Small
          class="plain costliest"
          heads={[
            asked ? level : 'costliest operators',
            asked ? '#self time of operators' : `#self time, ${baseline.operators_on}`,
            '#of all',
          ]}
        >
          {times.slice(0, MOST_ROWS).map(({ name, self_ns, percent }) => (
            <tr key={name}>
              <RowHead>
                <Term id={name} lead={lead}>
                  {name || '(none)'}
                </Term>
              </RowHead>
              <Num data-n={asked ? `${column}ns` : 'diagnosis.operators'}>
                {durationText(self_ns)}
              </Num>
              <Num data-n={asked ? `${column}percent` : 'diagnosis.operators'}>
                <i class="share" aria-hidden="true" style={{ width: `${percent}%` }} />
                <span>{percentText(percent)}</span>
              </Num>
            </tr>
          ))}
        </Small>
      )}
      {times && times.length > MOST_ROWS && <Soft>and {times.length - MOST_ROWS} more</Soft>}
      {diagnosis.focus_next && (
        <p>
          <button onClick={() => context.setScope({ focus: diagnosis.focus_next ?? '' })}>
            Focus on {diagnosis.focus_next}
          </button>
        </p>
      )}
    </Section>
  );
}
