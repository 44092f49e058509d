// The what-if drawer: sliders and switches that replay the recording while they move.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { durationText, percentText } from '../../base/format';
import type { Failure, Result } from '../../base/result';
import { exactPattern, shortened } from '../../base/text';
import type { Scope } from '../../base/scope';
import type { Change } from '../../base/view_state';
import { AS_IT_IS, WHAT_IF_SCOPE, tablePath, whatIfCommand, whatIfPath } from '../../api/urls';
import type { TableAnswer, WhatIfAnswer } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CloseButton } from '../../components/close_button';
import { CommandLine } from '../../components/copy_button';
import { latest, useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import type { ViewContext } from '../view';
import { isOn, scaled, scaleOf, switched, SWITCHES, without } from './changes';
import { LatestWins } from './latest_wins';
import { Aside, Num, Quiet, RowHead, Small, Soft, Term } from '../../components/plain';

const PHASES = ['forward', 'backward', 'optimizer', 'data', 'communication'];

interface Question {
  readonly changes: readonly Change[];
  readonly scope: Scope;
}

/** Asks as the changes move; keeps the last answer until the next is here. */
function useReplay(context: ViewContext, changes: readonly Change[], scope: Scope) {
  const [answer, setAnswer] = useState<WhatIfAnswer | null>(null);
  const [error, setError] = useState<Failure | null>(null);
  const queue = useRef<LatestWins<Question, Result<WhatIfAnswer>> | null>(null);
  useLayoutEffect(() => {
    const made = new LatestWins<Question, Result<WhatIfAnswer>>(
      (question, signal) =>
        context.client.json<WhatIfAnswer>(whatIfPath(question.changes, question.scope), signal),
      (result) => {
        setAnswer(result.ok ? result.value : null);
        setError(result.ok ? null : result.error);
      },
    );
    queue.current = made;
    return () => made.end();
  }, [context.client]);
  const text = JSON.stringify([changes, scope]);
  // Before the frame is painted: one waits for the answer.
  useLayoutEffect(() => {
    if (changes.length === 0) {
      queue.current?.clear();
      setAnswer(null);
      setError(null);
    } else {
      queue.current?.put({ changes, scope });
    }
  }, [text]);
  return { answer, error };
}

/** The interval of the new step beside the old one, on one scale. */
function StepScale(props: { answer: WhatIfAnswer }) {
  const { before, best, worst } = props.answer;
  const most = Math.max(before.step_mean_ns, worst.step_mean_ns, 1);
  const at = (ns: number): string => `${(100 * ns) / most}%`;
  return (
    <div class="step-scale" aria-hidden="true">
      <i class="before" style={{ width: at(before.step_mean_ns) }} />
      <i class="worst" style={{ width: at(worst.step_mean_ns) }} />
      <i class="best" style={{ width: at(best.step_mean_ns) }} />
    </div>
  );
}

function PathParts(props: { answer: WhatIfAnswer }) {
  const { before, best } = props.answer;
  return (
    <Small caption="Critical path" heads={['part', '#before', '#after']}>
      {Object.entries(before.critical_path)
        .filter(([part, ns]) => ns > 0 || (best.critical_path[part] ?? 0) > 0)
        .map(([part, ns]) => (
          <tr key={part}>
            <RowHead>
              <Term id={part.replace(/_ns$/, '')} />
            </RowHead>
            <Num>{durationText(ns)}</Num>
            <Num>{durationText(best.critical_path[part] ?? 0)}</Num>
          </tr>
        ))}
    </Small>
  );
}

function Outcome(props: { answer: WhatIfAnswer }) {
  const { before, best, worst } = props.answer;
  const saved = before.step_mean_ns - best.step_mean_ns;
  const bound =
    before.bound_by === best.bound_by ? best.bound_by : `${before.bound_by}, then ${best.bound_by}`;
  return (
    <div class="outcome">
      <p class="new-step" role="status">
        <b data-n="whatif.step_mean_ns">{durationText(best.step_mean_ns)}</b>
        {worst.step_mean_ns !== best.step_mean_ns && (
          <span> to {durationText(worst.step_mean_ns)}</span>
        )}
        <Aside>
          {' '}
          a <Term id="step">step</Term>, now {durationText(before.step_mean_ns)}
        </Aside>
      </p>
      <StepScale answer={props.answer} />
      <p>
        saves up to <b data-n="whatif.step_mean_ns">{durationText(saved)}</b> (
        {percentText((100 * saved) / Math.max(1, before.step_mean_ns))}); bound by {bound}
      </p>
    </div>
  );
}

/** What the outcome rests on. */
function Grounds(props: { answer: WhatIfAnswer }) {
  const { answer } = props;
  return (
    <section class="outcome">
      <PathParts answer={answer} />
      {answer.changes.map((change) => (
        <Soft class="soft small" key={change.what}>
          {change.what}: {change.slices} slices. {change.assumption}
        </Soft>
      ))}
      {answer.notes.map((note) => (
        <Soft class="soft small" key={note}>
          {note}
        </Soft>
      ))}
      <Soft class="soft small">
        <Term id="residual">Residual</Term> of the replay {percentText(answer.residuals.percent)}.
      </Soft>
    </section>
  );
}

function Slider(props: {
  target: string;
  factor: number;
  onChange: (factor: number) => void;
  onRemove?: () => void;
}) {
  const { target, factor } = props;
  return (
    <div class="slider">
      <label>
        <span class="target" title={target}>
          {shortened(target, 24)}
        </span>
        <input
          type="range"
          aria-label={`Time of ${target}`}
          min="0"
          max="1"
          step="0.05"
          value={factor}
          aria-valuetext={`${Math.round(factor * 100)} % of its time`}
          onInput={(event) => props.onChange(Number(event.currentTarget.value))}
        />
      </label>
      <output>×{factor.toFixed(2)}</output>
      {props.onRemove && (
        <Quiet aria-label={`No change of ${target}`} onClick={props.onRemove}>
          ×
        </Quiet>
      )}
    </div>
  );
}

export function WhatIfDrawer(props: { context: ViewContext; onEnd: () => void }) {
  const { context } = props;
  const state = useStore(context.state, 'changes', 'scope');
  const { changes, scope } = state;
  const { answer, error } = useReplay(context, changes, scope);
  const [own, setOwn] = useState('');
  // The graph is built while one looks for a slider.
  useEffect(() => {
    const abort = new AbortController();
    if (context.client.connection !== 'carried')
      void context.client.json(whatIfPath([['prepare', 'true']], scope), abort.signal);
    return () => abort.abort();
  }, [context.client, scope.steps, scope.window]);
  const set = (next: readonly Change[]): void => context.go({ changes: next });
  const [, diagnosis] = useDiagnosis(context.client, scope);
  const kernels = latest(
    useAnswer<TableAnswer>(context.client, tablePath('kernels', { ...AS_IT_IS, limit: 5 }, scope)),
  );
  const operators = diagnosis?.baseline.operators;
  const targets = useMemo(() => {
    const names = (operators ?? []).map((operator) => operator.name);
    const patterns = (kernels?.rows ?? [])
      .map((row) => row['name'])
      .filter((name): name is string => typeof name === 'string')
      .map((name) => `kernel:${exactPattern(name)}`);
    return [
      { title: 'Operators', targets: names.slice(0, 5) },
      { title: 'Phases', targets: PHASES.map((phase) => `phase:${phase}`) },
      { title: 'Kernels', targets: patterns },
    ];
  }, [operators, kernels]);
  const findings = changes.filter(([option]) => option === 'finding');
  const scales = changes.filter(([option]) => option === 'scale');
  const factorOf = (target: string): number | undefined => {
    const found = scales.find(([, value]) => scaleOf(value).target === target);
    return found && scaleOf(found[1]).factor;
  };
  const offered = new Set(targets.flatMap((group) => group.targets));
  return (
    <aside class="drawer what-if" aria-label="What if">
      <header>
        <h2>What if</h2>
        {changes.length > 0 && <Quiet onClick={() => set([])}>Reset</Quiet>}
        <CloseButton what=" what if" onEnd={props.onEnd} />
      </header>
      <Beyond scope={scope} known={WHAT_IF_SCOPE} />
      {error && (
        <p role="alert" class="warning">
          {error.message}
        </p>
      )}
      {answer && changes.length > 0 && <Outcome answer={answer} />}
      {changes.length === 0 && (
        <Soft>
          Move a slider or turn a switch: the recording is replayed with that change in it.
        </Soft>
      )}
      {changes.length > 0 && (
        <CommandLine command={whatIfCommand(changes, scope, context.session.input)} />
      )}
      {findings.length > 0 && (
        <fieldset>
          <legend>Findings</legend>
          {findings.map((change) => (
            <label class="switch" key={change[1]}>
              <input type="checkbox" checked onChange={() => set(without(changes, change))} />
              {change[1]}
            </label>
          ))}
        </fieldset>
      )}
      <fieldset>
        <legend>Switches</legend>
        {SWITCHES.map((each) => (
          <label class="switch" key={each.option}>
            <input
              type="checkbox"
              checked={isOn(changes, each.option)}
              onChange={() => set(switched(changes, each.option))}
            />
            {each.title}
          </label>
        ))}
      </fieldset>
      <fieldset>
        <legend>Any target</legend>
        <form
          class="own"
          onSubmit={(event) => {
            event.preventDefault();
            if (own.trim() !== '') set(scaled(changes, own.trim(), 0.5));
            setOwn('');
          }}
        >
          <input
            type="text"
            value={own}
            aria-label="Operator, or op:REGEX, kernel:REGEX, host:REGEX, phase:NAME"
            placeholder="aten::mm, kernel:gemm, phase:forward"
            onInput={(event) => setOwn(event.currentTarget.value)}
          />
          <button type="submit">Add</button>
        </form>
        {scales
          .filter(([, value]) => !offered.has(scaleOf(value).target))
          .map((change) => {
            const { target, factor } = scaleOf(change[1]);
            return (
              <Slider
                key={target}
                target={target}
                factor={factor}
                onChange={(next) => set(scaled(changes, target, next))}
                onRemove={() => set(without(changes, change))}
              />
            );
          })}
      </fieldset>
      {targets.map(
        (group) =>
          group.targets.length > 0 && (
            <fieldset key={group.title}>
              <legend>{group.title}</legend>
              {group.targets.map((target) => (
                <Slider
                  key={target}
                  target={target}
                  factor={factorOf(target) ?? 1}
                  onChange={(next) =>
                    set(
                      next === 1
                        ? changes.filter(
                            ([option, value]) =>
                              option !== 'scale' || scaleOf(value).target !== target,
                          )
                        : scaled(changes, target, next),
                    )
                  }
                />
              ))}
            </fieldset>
          ),
      )}
      {answer && changes.length > 0 && <Grounds answer={answer} />}
    </aside>
  );
}
