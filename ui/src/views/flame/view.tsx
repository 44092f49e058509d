// The flame graph: call paths with their time or memory, of what the scope selects.
import { useMemo } from 'preact/hooks';
import { countText, durationText, valueTextIn } from '../../base/format';
import {
  AS_IT_IS,
  pathOf,
  scopeOptions,
  tableCommand,
  TABLE_SCOPE,
  TIME_SCOPE,
  viewCommand,
} from '../../api/urls';
import type { FlameNode, TableAnswer } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CopyCommand } from '../../components/copy_button';
import { Icicle } from '../../components/icicle';
import { Empty, Failed, Loading } from '../../components/notice';
import { useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import { selectedTime } from '../selected_time';
import type { ViewContext } from '../view';
import { areWeights, ofMemory, ofStacks, type MemoryNode } from '../../api/flame_trees';
import { RECORD_MEMORY, Soft } from '../../components/plain';

const SAMPLED = 'fathom run --with samples -- COMMAND';
/** Id and title; the metric of `fathom stacks`, '' for what is asked of the timeline's slices; and what records it. */
const WEIGHTS: readonly (readonly [id: string, title: string, metric: string, remedy: string])[] = [
  ['time', 'Time of calls', '', 'torch.profiler.profile(with_stack=True)'],
  ['memory', 'Memory allocated', '', RECORD_MEMORY],
  ['device', 'Device time by caller', 'device', 'fathom run -- COMMAND'],
  ['on-cpu', 'Samples on the processor', 'on-cpu', SAMPLED],
  ['blocked', 'Samples while blocked', 'blocked', SAMPLED],
  ['both', 'Samples on the processor and blocked', 'both', SAMPLED],
];

const STACKS = 5000;

/** The notes of the table, and that it is not whole. */
function notesOf(table: TableAnswer): readonly string[] {
  const shown = table.rows.length;
  const all = table.rows_total ?? shown;
  return all > shown
    ? [`The ${countText(shown)} heaviest of ${countText(all)} stacks.`, ...table.notes]
    : table.notes;
}

function Choice(props: {
  label: string;
  value: string;
  options: readonly (readonly [id: string, title: string])[];
  onChange: (id: string) => void;
}) {
  return (
    <label>
      {props.label}{' '}
      <select value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(([id, title]) => (
          <option key={id} value={id}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const state = useStore(context.state);
  const { order } = state;
  useDiagnosis(context.client, null);
  const [chosen, title, metric, remedy] = WEIGHTS.find(([id]) => id === state.width) ?? WEIGHTS[0]!;
  const time = selectedTime(context);
  const path = metric
    ? pathOf('api/reports/stacks', [
        ['limit', STACKS],
        ['metric', metric],
        ...scopeOptions(state.scope, TABLE_SCOPE),
      ])
    : pathOf('api/flame', [
        ['begin', time?.[0] ?? ''],
        ['end', time?.[1] ?? ''],
        ['order', order],
        ['weight', chosen === 'time' ? '' : chosen],
      ]);
  const loaded = useAnswer<FlameNode | MemoryNode | TableAnswer>(context.client, path);
  const answer = loaded.state === 'ready' ? loaded.value : null;
  const root = useMemo(() => {
    if (!answer) return null;
    if ('rows' in answer) return ofStacks(answer);
    return 'total_bytes' in answer ? ofMemory(answer) : answer;
  }, [answer]);
  const table = answer && 'rows' in answer ? answer : null;
  const weights = table !== null && areWeights(table);
  const text = (value: number): string =>
    chosen === 'memory'
      ? valueTextIn(value, 'bytes')
      : weights
        ? countText(value)
        : durationText(value);
  const notes = table ? notesOf(table) : [];
  return (
    <div class="flame-view">
      <div class="toolbar">
        <h2>Flame graph</h2>
        <Choice
          label="Width"
          value={chosen}
          options={WEIGHTS.map(([id, name]) => [id, name])}
          onChange={(id) => context.go({ width: id === 'time' ? '' : id })}
        />
        {!metric && (
          <Choice
            label="Order"
            value={order}
            options={[
              ['', 'Heaviest first'],
              ['time', 'As they begin'],
            ]}
            onChange={(id) => context.go({ order: id })}
          />
        )}
        <input
          type="search"
          value={state.frames}
          aria-label="Search frames"
          placeholder="Search frames"
          onInput={(event) => context.go({ frames: event.currentTarget.value })}
        />
        <span class="grow" />
        <CopyCommand
          text={() =>
            metric
              ? tableCommand('stacks', AS_IT_IS, state.scope, context.session.input).replace(
                  'fathom stacks',
                  `fathom stacks --metric ${metric}`,
                )
              : viewCommand(state, context.session)
          }
        />
      </div>
      <Beyond scope={state.scope} known={metric ? TABLE_SCOPE : TIME_SCOPE} />
      <Failed what="No flame graph" of={loaded} />
      {loaded.state === 'loading' && <Loading what="Adding up call paths" />}
      {root && root.total_ns <= 0 && (
        <Empty title={`${title}: nothing in this scope`} remedy={remedy}>
          {notes.map((note) => (
            <p key={note}>{note}</p>
          ))}
        </Empty>
      )}
      {root && root.total_ns > 0 && (
        <>
          {notes.map((note) => (
            <Soft key={note}>{note}</Soft>
          ))}
          <Icicle
            root={root}
            label={`Flame graph: ${title}`}
            of={
              chosen === 'memory'
                ? 'memory.peak'
                : metric
                  ? `stacks.${weights ? 'calls' : 'total_ns'}`
                  : 'flame.total_ns'
            }
            search={state.frames}
            text={text}
          />
        </>
      )}
    </div>
  );
}

export const flame = mounted(Screen);
