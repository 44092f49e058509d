// The start screen: what ran, what bounds it, what to change, and what that gives.
import { bytesText, countText, durationText, percentText, realText } from '../../base/format';
import { diagnoseCommand } from '../../api/urls';
import type { Diagnosis } from '../../api/types';
import { AccountingBar } from '../../components/accounting_bar';
import { CopyCommand } from '../../components/copy_button';
import { Failed, Loading } from '../../components/notice';
import { StepChart } from '../../components/step_chart';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import type { View, ViewContext } from '../view';
import { Capture, HealthBadge } from './capture';
import { FindingCard, gainOf } from './finding';
import { Where } from './where';
import { Aside, Num, RowHead, Section, Small, Soft, Term } from '../../components/plain';

const name = (id: string): string => id.replaceAll('_', ' ');

function WhatRan(props: { diagnosis: Diagnosis }) {
  const { baseline, run } = props.diagnosis;
  const facts: string[] = [];
  const command = run?.['command'];
  if (typeof command === 'string' && command !== '') facts.push(command);
  facts.push(
    baseline.device === null
      ? 'no device recorded: the main thread is accounted for'
      : `${baseline.device_name || `device ${baseline.device}`}${baseline.devices > 1 ? `, 1 of ${baseline.devices}` : ''}`,
  );
  if (baseline.samples_per_step) facts.push(`batch ${countText(baseline.samples_per_step)}`);
  if (baseline.tokens_per_step) facts.push(`${countText(baseline.tokens_per_step)} tokens a step`);
  const left = baseline.steps_left_out > 0 ? `, ${baseline.steps_left_out} left out` : '';
  facts.push(
    baseline.step_name === ''
      ? 'the whole recording as one step'
      : `${baseline.steps} ${baseline.steps === 1 ? 'step' : 'steps'} of ${baseline.step_name}${left}`,
  );
  return <p class="what-ran">{facts.join(' · ')}</p>;
}

function Verdict(props: { diagnosis: Diagnosis }) {
  const { verdict, baseline } = props.diagnosis;
  const sentence = verdict.sentence.replace(/^Cannot tell: /, '');
  return (
    <div class="verdict">
      <h1>
        <Term id={verdict.id}>
          {verdict.id.replaceAll('-', verdict.id === 'cannot-tell' ? ' ' : '-')}
        </Term>
      </h1>
      <p class="sentence" data-n={verdict.families.length > 0 ? 'diagnosis.families' : undefined}>
        {sentence}
      </p>
      <p class="step-time">
        <b data-n="diagnosis.step_mean_ns">
          {durationText(baseline.usual_step_ns || baseline.step_mean_ns)}
        </b>
        <Aside> a step{baseline.usual_steps > 1 ? `, mean of ${baseline.usual_steps}` : ''}</Aside>
      </p>
    </div>
  );
}

/** The first three findings, each a line; below, what they give together. */
function TopFindings(props: { diagnosis: Diagnosis; context: ViewContext }) {
  const { diagnosis, context } = props;
  const gains = diagnosis.findings.filter((finding) => finding.part === 'gain').slice(0, 3);
  const { together } = diagnosis;
  if (gains.length === 0) {
    return (
      <p>
        No change is known that would save time here.{' '}
        <Aside>{diagnosis.rules.length} rules were asked.</Aside>
      </p>
    );
  }
  return (
    <div class="top-findings">
      <ol>
        {gains.map((finding) => {
          const gain = gainOf(finding);
          return (
            <li key={finding.id}>
              <button
                class="top-finding"
                onClick={() => {
                  context.go({ finding: finding.id });
                  document.getElementById(`finding-${finding.id}`)?.scrollIntoView();
                }}
              >
                <span class="number">{finding.number ?? ''}</span>
                <span class="title" data-n="diagnosis.predicted_step_ns">
                  {finding.title}
                </span>
                <span class="gain" data-n="diagnosis.predicted_step_ns">
                  <b>{gain ? `${finding.predicted_step_ns ? '−' : ''}${gain.likely}` : ''}</b>
                  <small>{gain?.range}</small>
                </span>
              </button>
            </li>
          );
        })}
      </ol>
      {together && (
        <p class="together" data-n="diagnosis.predicted_step_ns">
          Findings {together.numbers.join(', ')} together: {durationText(together.step_ns)} →{' '}
          <b>{durationText(together.predicted_step_ns.likely)}</b>{' '}
          <Aside>
            ({durationText(together.predicted_step_ns.low)} to{' '}
            {durationText(together.predicted_step_ns.high)}, by one replay of all)
          </Aside>
        </p>
      )}
    </div>
  );
}

function Facts(props: { diagnosis: Diagnosis }) {
  const { baseline } = props.diagnosis;
  const facts: [value: string, what: string, term: string, number: string][] = [
    [durationText(baseline.step_median_ns), 'median step', 'step', 'step_median_ns'],
    [durationText(baseline.step_mean_ns), 'mean step', 'step', 'step_mean_ns'],
    [durationText(baseline.step_stddev_ns), 'standard deviation', 'step', 'step_stddev_ns'],
    [
      `${durationText(baseline.step_min_ns)} – ${durationText(baseline.step_max_ns)}`,
      'shortest – longest',
      'step',
      'step_min_ns',
    ],
  ];
  const add = (
    value: number | null,
    text: (value: number) => string,
    what: string,
    term: string,
    number: string,
  ): void => {
    if (value !== null && value !== undefined) facts.push([text(value), what, term, number]);
  };
  add(baseline.samples_per_second, realText, 'samples a second', 'step', 'samples_per_second');
  add(baseline.tokens_per_second, realText, 'tokens a second', 'step', 'samples_per_second');
  add(
    baseline.device_busy_percent,
    percentText,
    'of the step the device is busy',
    'accounting',
    'device_busy_percent',
  );
  add(baseline.mfu_percent, percentText, 'of peak FLOP/s', 'MFU', 'mfu_percent');
  add(baseline.peak_allocated_bytes, bytesText, 'peak allocated', 'step', 'peak_allocated_bytes');
  return (
    <div class="facts">
      {facts.map(([value, what, term, number]) => (
        <div key={what}>
          <b data-n={`diagnosis.${number}`}>{value}</b>
          <Term id={term}>{what}</Term>
        </div>
      ))}
    </div>
  );
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const state = useStore(context.state, 'scope', 'finding');
  const [loaded, diagnosis] = useDiagnosis(context.client, state.scope);
  if (loaded.state === 'failed') return <Failed what="No diagnosis" of={loaded} />;
  if (!diagnosis) return <Loading what="Diagnosing" />;
  const gains = diagnosis.findings.filter((finding) => finding.part === 'gain');
  const others = diagnosis.findings.filter((finding) => finding.part !== 'gain');
  const card = (finding: Diagnosis['findings'][number]) => (
    <FindingCard
      key={finding.id}
      finding={finding}
      diagnosis={diagnosis}
      context={context}
      open={state.finding === finding.id}
    />
  );
  return (
    <div class="diagnosis" aria-busy={loaded.state === 'loading'}>
      <div class="fold">
        <div class="fold-head">
          <WhatRan diagnosis={diagnosis} />
          <HealthBadge diagnosis={diagnosis} />
          <CopyCommand text={() => diagnoseCommand(state.scope, context.session, diagnosis)} />
        </div>
        <Verdict diagnosis={diagnosis} />
        <AccountingBar
          account={diagnosis.usual_account_ns}
          of="diagnosis.usual_account_ns"
          label="Where the time of the steps goes"
        />
        <TopFindings diagnosis={diagnosis} context={context} />
      </div>
      <Capture diagnosis={diagnosis} />
      <Section id="baseline" title="Baseline">
        <Facts diagnosis={diagnosis} />
        {diagnosis.baseline.utilisation && <Soft>{diagnosis.baseline.utilisation}</Soft>}
        {diagnosis.baseline.step_note && <Soft>{diagnosis.baseline.step_note}</Soft>}
        {diagnosis.steps.length > 1 && (
          <StepChart
            steps={diagnosis.steps}
            median={diagnosis.baseline.step_median_ns}
            selected={state.scope.steps}
            onSelect={(steps) => context.setScope({ steps })}
          />
        )}
      </Section>
      <Section id="bound" title="What bounds it">
        <AccountingBar
          account={diagnosis.account_ns}
          of="diagnosis.account_ns"
          label="All counted steps"
          times
        />
        {diagnosis.verdict.also.length > 0 && (
          <p>It may as well be: {diagnosis.verdict.also.map(name).join(', ')}.</p>
        )}
        <Soft data-n="diagnosis.replay_residual_percent">
          <Term id="residual">Residual</Term> of the replay:{' '}
          {percentText(diagnosis.replay_residual_percent)} of the window.
        </Soft>
        {diagnosis.verdict.families.length > 0 && (
          <details>
            <summary>What each family could save at most</summary>
            <Small heads={['family', '#per step', '#of the step']}>
              {diagnosis.verdict.families.map((family) => (
                <tr key={family.family}>
                  <RowHead>
                    <Term id={family.family}>{name(family.family)}</Term>
                  </RowHead>
                  <Num data-n="diagnosis.families">{durationText(family.per_step_ns)}</Num>
                  <Num data-n="diagnosis.families">{percentText(family.percent)}</Num>
                </tr>
              ))}
            </Small>
          </details>
        )}
      </Section>
      <Where diagnosis={diagnosis} context={context} />
      <Section id="change" title="What to change">
        {gains.length === 0 && <p>Nothing that would save time was found.</p>}
        {gains.map(card)}
        {others.length > 0 && (
          <details open={others.some((finding) => finding.id === state.finding)}>
            <summary>Further remarks ({others.length})</summary>
            {others.map(card)}
          </details>
        )}
        <details>
          <summary>Rules that were asked ({diagnosis.rules.length})</summary>
          <Small>
            {diagnosis.rules.map((rule) => (
              <tr key={rule.rule}>
                <RowHead>
                  <Term id={rule.rule} />
                </RowHead>
                <td>{rule.outcome}</td>
                <td>{rule.reason}</td>
              </tr>
            ))}
          </Small>
        </details>
      </Section>
    </div>
  );
}

export const diagnosis: View = { id: 'diagnosis', title: 'Diagnosis', mount: mounted(Screen) };
