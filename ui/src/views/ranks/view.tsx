// Ranks: who computes, who communicates, who waits for whom, and who is late.
import { useEffect, useState } from 'preact/hooks';
import { durationText, percentText } from '../../base/format';
import type { Scope } from '../../base/scope';
import { StepStack } from '../../components/step_stack';
import { diagnoseCommand, pathOf, RANK_SCOPE, scopeOptions, TIME_SCOPE } from '../../api/urls';
import type {
  Column,
  Diagnosis,
  RankRecording,
  Row,
  StepAccount,
  TableAnswer,
} from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CopyCommand } from '../../components/copy_button';
import { Empty, Failed, Loading } from '../../components/notice';
import { DataTable } from '../../components/data_table';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import type { ViewContext } from '../view';
import { Aside, Num, RowHead, Small, Soft, Term, Toolbar } from '../../components/plain';

const MOST_RANKS = 64;
/** Columns of the table of ranks. */
const TIMES = ['step_mean_ns', 'communication_ns', 'waited_ns', 'made_wait_ns'] as const;

/** Columns of the collectives. */
const SHOWN = /^(kind|count|total_ns|mean_ns|transfer_ns|wait_ns|bytes|gb_per_s)$/;

interface RankSteps {
  readonly input: number;
  readonly rank: number | null;
  readonly steps: readonly StepAccount[];
  readonly collectives: TableAnswer | null;
}

/** A step whose communication is divided into transfer and waiting for other ranks. */
function divided(step: StepAccount, recording: RankRecording | undefined): StepAccount {
  const wait = recording?.waits.find((each) => each.step === step.step)?.waited_ns ?? 0;
  const { communication = 0, dependency = 0 } = step.account_ns;
  const waited = Math.min(wait, communication);
  return {
    ...step,
    account_ns: {
      ...step.account_ns,
      communication: communication - waited,
      dependency: dependency + waited,
    },
  };
}

/** The steps and collectives of each rank, by one diagnosis each, which begin when this view is opened. */
function useRankSteps(
  context: ViewContext,
  recordings: readonly RankRecording[],
  scope: Scope,
): readonly RankSteps[] {
  const wanted = recordings.length > 1;
  const [found, setFound] = useState<readonly RankSteps[]>([]);
  useEffect(() => {
    if (!wanted) return undefined;
    const abort = new AbortController();
    const options = scopeOptions(scope, RANK_SCOPE);
    setFound([]);
    const inputs = (context.session.inputs ?? []).slice(0, MOST_RANKS);
    const ask = async (): Promise<void> => {
      for (const { index, name } of inputs) {
        const path = pathOf('api/diagnosis', [['input', index], ...options]);
        const answer = await context.client.json<Diagnosis>(path, abort.signal);
        if (abort.signal.aborted) return;
        if (!answer.ok) continue;
        const table = await context.client.json<TableAnswer>(
          pathOf('api/reports/collectives', [['input', index], ...scopeOptions(scope, TIME_SCOPE)]),
          abort.signal,
        );
        if (abort.signal.aborted) return;
        const collectives = table.ok ? table.value : null;
        const recording = recordings.find((each) => each.input === name);
        const rank = recording?.rank ?? index;
        const steps = answer.value.steps.map((step) => divided(step, recording));
        setFound((before) => [...before, { input: index, rank, steps, collectives }]);
      }
    };
    void ask();
    return () => abort.abort();
  }, [wanted, ...RANK_SCOPE.map((key) => scope[key])]);
  return found;
}

function Strip(props: {
  recording: RankRecording;
  longest: number;
  late: boolean;
  diagnosed: boolean;
}) {
  const { recording, longest } = props;
  const own = Math.max(0, recording.step_mean_ns - recording.communication_ns);
  const transfer = Math.max(0, recording.communication_ns - recording.waited_ns);
  const parts = [
    ['compute', own, 'own work and the rest'],
    ['communication', transfer, 'transfer'],
    ['dependency', recording.waited_ns, 'waiting for other ranks'],
  ] as const;
  const said = parts.map(([, ns, what]) => `${what} ${durationText(ns)}`).join(', ');
  return (
    <tr class={props.late ? 'late' : ''}>
      <RowHead>
        {recording.rank === null ? recording.input : `rank ${recording.rank}`}
        {props.late && <b class="warning"> late</b>}
        {props.diagnosed && <Aside> diagnosed</Aside>}
      </RowHead>
      <td>
        <span
          class="bar thin rank-bar"
          role="img"
          aria-label={said}
          style={{ width: `${(100 * recording.step_mean_ns) / longest}%` }}
        >
          {parts.map(([css, ns, what]) => (
            <span
              key={css}
              class={`fill-${css}`}
              style={{ flexGrow: String(ns) }}
              title={`${what} ${durationText(ns)}`}
            />
          ))}
        </span>
      </td>
      {TIMES.map((each) => (
        <Num key={each} data-n={`ranks.${each}`}>
          {durationText(recording[each])}
        </Num>
      ))}
      <Num>{recording.came_last}</Num>
      <td>
        <Term id={recording.verdict} />
      </td>
    </tr>
  );
}

/** Each step of each rank as a bar of its accounting; a click looks at that step of that rank. */
function Heat(props: { steps: readonly RankSteps[]; context: ViewContext }) {
  const longest = Math.max(
    1,
    ...props.steps.flatMap((rank) => rank.steps.map((step) => step.window_ns)),
  );
  return (
    <div class="heat" role="group" aria-label="Steps of each rank">
      {props.steps.map((rank) => (
        <div class="heat-row" key={rank.rank ?? -1}>
          <Aside>rank {rank.rank}</Aside>
          {rank.steps.map((step) => {
            const share = (id: string): string =>
              percentText((100 * (step.account_ns[id] ?? 0)) / Math.max(1, step.window_ns));
            const said = `rank ${rank.rank}, step ${step.step}: ${durationText(step.window_ns)}, transfer ${share('communication')}, waiting ${share('dependency')}`;
            return (
              <button
                class="step"
                key={step.step}
                title={said}
                aria-label={said}
                onClick={() =>
                  props.context.setScope({
                    input: rank.input === 0 ? '' : String(rank.input),
                    steps: String(step.step),
                  })
                }
              >
                <StepStack step={step} longest={longest} />
              </button>
            );
          })}
        </div>
      ))}
    </div>
  );
}

/** What each rank exchanges, by kind: the table of the same name of each recording. */
function Collectives(props: { ranks: readonly RankSteps[] }) {
  const first = props.ranks.find((each) => each.collectives)?.collectives;
  const rows = props.ranks.flatMap(({ rank, collectives }) =>
    (collectives?.rows ?? []).map((row): Row => ({ ...row, rank: String(rank) })),
  );
  if (!first || rows.length === 0) return null;
  const rank: Column = { name: 'rank', kind: 'text', unit: '', doc: '' };
  return (
    <>
      <h2>Collectives of each rank</h2>
      <div class="short-table">
        <DataTable
          label="Collectives of each rank"
          of="collectives"
          columns={[rank, ...first.columns.filter(({ name }) => SHOWN.test(name))]}
          rows={rows}
          rowTitle=""
          onRow={() => undefined}
        />
      </div>
    </>
  );
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const state = useStore(context.state, 'scope');
  const [loaded, diagnosis] = useDiagnosis(context.client, state.scope);
  const steps = useRankSteps(context, diagnosis?.ranks?.recordings ?? [], state.scope);
  if (loaded.state === 'failed') return <Failed what="No diagnosis" of={loaded} />;
  if (!diagnosis) return <Loading what="Comparing ranks" />;
  const ranks = diagnosis.ranks;
  if (state.scope.input !== '' && (context.session.inputs ?? []).length > 1) {
    return (
      <Empty title="The scope has one recording">
        <p>Ranks are compared where no recording is chosen.</p>
        <button onClick={() => context.setScope({ input: '' })}>Show all ranks</button>
      </Empty>
    );
  }
  if (!ranks || ranks.recordings.length < 2) {
    return (
      <Empty
        title="One rank"
        remedy="fathom view FOLDER, a folder that holds a recording of each rank"
      >
        <p>
          This input is the recording of a single process, so there is nothing to compare between
          ranks. Of a program with several ranks, open the folder of all recordings.
        </p>
      </Empty>
    );
  }
  const longest = Math.max(1, ...ranks.recordings.map((recording) => recording.step_mean_ns));
  return (
    <div class="ranks">
      <Toolbar title="Ranks">
        <CopyCommand text={() => diagnoseCommand(state.scope, context.session, diagnosis)} />
      </Toolbar>
      <p>
        {ranks.late === null
          ? 'No rank is late more than the others.'
          : `Rank ${ranks.recordings[ranks.late]?.rank ?? ranks.late} is late: the others wait for it up to ${percentText(ranks.late_percent)} of the step.`}{' '}
        <Aside>
          {ranks.compared} collectives were compared
          {ranks.not_compared > 0 ? `, ${ranks.not_compared} had no counterpart` : ''}. The
          diagnosis is that of rank {ranks.recordings[ranks.diagnosed]?.rank ?? ranks.diagnosed}
          {ranks.why ? `: ${ranks.why}` : ''}.
        </Aside>
      </p>
      <div class="wide">
        <Small
          class="plain rank-table"
          heads={[
            'rank',
            'mean step: own, transfer, waiting@straggler',
            '#step@step',
            '#communication@communication',
            '#waited@straggler',
            '#made wait',
            '#came last',
            'verdict',
          ]}
        >
          {ranks.recordings.map((recording, i) => (
            <Strip
              key={i}
              recording={recording}
              longest={longest}
              late={i === ranks.late}
              diagnosed={i === ranks.diagnosed}
            />
          ))}
        </Small>
      </div>
      {steps.length > 0 && <Beyond scope={state.scope} known={RANK_SCOPE} />}
      {steps.length > 0 && <Heat steps={steps} context={context} />}
      <Collectives ranks={steps} />
      {steps.length > 0 && ranks.recordings.length > MOST_RANKS && (
        <Soft>
          The steps of the first {MOST_RANKS} of {ranks.recordings.length} recordings are shown.
        </Soft>
      )}
      {ranks.missing.map((missing) => (
        <Soft key={missing}>{missing}</Soft>
      ))}
    </div>
  );
}

export const ranks = mounted(Screen);
