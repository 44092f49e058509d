// A finding: what it would save, why it is believed, what speaks against it, what to change, how to verify it.
import { useState } from 'preact/hooks';
import { durationText, percentText } from '../../base/format';
import { rowsOf } from '../../api/rows_of';
import { pathOf } from '../../api/urls';
import type { Diagnosis, Evidence, Finding, SliceAnswer } from '../../api/types';
import type { ViewContext } from '../view';
import { CommandLine } from '../../components/copy_button';
import { Aside, Jump, Soft, Term } from '../../components/plain';

/** "4.2 ms (13 %), at most 6.0 ms" of a step: the saving, as an interval where it was predicted. */
export function gainOf(finding: Finding): { likely: string; range: string } | null {
  const { predicted_step_ns: after, step_ns: now, upper_bound_ns: bound } = finding;
  if (after) {
    const saving = now - after.likely;
    const percent = (ns: number): string => percentText((100 * ns) / Math.max(1, now));
    const last = finding.saves_after_others_ns ?? 0;
    const more =
      last - saving < now / 100 ? '' : `; ${percent(last)} once the other findings are changed`;
    return {
      likely: `${durationText(saving)} (${percent(saving)})`,
      range: `${durationText(now - after.high)} to ${durationText(now - after.low)}${more}`,
    };
  }
  if (bound > 0) {
    return {
      likely: `≤ ${durationText(bound)} (${percentText(finding.step_percent)})`,
      range: 'upper bound',
    };
  }
  return null;
}

/** Of several ranks, slices are those of the rank that is diagnosed: the timeline is to show that one. */
function rankOf(diagnosis: Diagnosis, context: ViewContext): string {
  const { ranks } = diagnosis;
  const name = ranks?.recordings[ranks.diagnosed]?.input;
  const index = (context.session.inputs ?? []).findIndex((input) => input.name === name);
  return ranks && index > 0 ? String(index) : '';
}

function chooseRank(diagnosis: Diagnosis, context: ViewContext): void {
  const input = rankOf(diagnosis, context);
  if (input !== '') context.setScope({ input });
}

/** Leads to the rows of a table that count the slices of an evidence. */
function Rows(props: { slices: readonly number[]; diagnosis: Diagnosis; context: ViewContext }) {
  const { slices, diagnosis, context } = props;
  const [said, setSaid] = useState('');
  const show = async (): Promise<void> => {
    const client = context.client.about(rankOf(diagnosis, context) || context.client.input);
    // A page in a file has no filters.
    const whole = context.client.connection === 'carried';
    const answers = await Promise.all(
      slices.map((slice) => client.json<SliceAnswer>(pathOf('api/slice', [['id', slice]]))),
    );
    if (context.signal.aborted) return;
    const found = rowsOf(answers.flatMap((answer) => (answer.ok ? [answer.value] : [])));
    if (found === null) setSaid('No table has a row of its own for this.');
    else {
      chooseRank(diagnosis, context);
      context.go({
        view: 'tables',
        report: found.report,
        filter: whole ? '' : found.filter,
        sort: '',
        groupBy: '',
      });
    }
  };
  return said === '' ? <Jump onClick={() => void show()}>Show rows</Jump> : <Aside>{said}</Aside>;
}

function Proof(props: { evidence: Evidence; diagnosis: Diagnosis; context: ViewContext }) {
  const { evidence, context, diagnosis } = props;
  const jump = (slice?: number): void => {
    chooseRank(diagnosis, context);
    if (begin !== undefined && end !== undefined) context.showTime(begin, end, slice);
    else if (slice !== undefined) context.showSlice(slice);
  };
  const at = (ns?: number): number | undefined =>
    ns === undefined ? undefined : ns + context.origin;
  const [begin, end] = [at(evidence.begin_ns), at(evidence.end_ns)];
  return (
    <li>
      {evidence.text}
      {evidence.location && <code class="place"> {evidence.location}</code>}{' '}
      {evidence.slices.slice(0, 3).map((slice, i) => (
        <Jump key={slice} onClick={() => jump(slice)}>
          {i === 0 ? 'Show in timeline' : `no. ${i + 1}`}
        </Jump>
      ))}
      {evidence.slices.length > 0 && (
        <Rows slices={evidence.slices} diagnosis={diagnosis} context={context} />
      )}
      {evidence.slices.length === 0 && begin !== undefined && end !== undefined && (
        <Jump onClick={() => jump()}>Show in timeline</Jump>
      )}
    </li>
  );
}

/** Replays what the finding proposes, as the diagnosis did. */
function Try(props: { finding: Finding; diagnosis: Diagnosis; context: ViewContext }) {
  const { finding, diagnosis, context } = props;
  const { scope } = context.state.value;
  // A part's calls, or another device's steps, are not what is replayed.
  if (scope.focus !== '' || scope.device !== '')
    return <Soft>What if replays whole steps: it needs a scope without device and focus.</Soft>;
  const replay = (): void => {
    chooseRank(diagnosis, context);
    context.tryChanges([['finding', finding.id]]);
  };
  return (
    <p class="actions">
      <button onClick={replay}>Try it</button>
    </p>
  );
}

export function FindingCard(props: {
  finding: Finding;
  diagnosis: Diagnosis;
  context: ViewContext;
  open: boolean;
  level?: 3 | 4;
}) {
  const { finding, context } = props;
  const gain = gainOf(finding);
  const Title = props.level === 4 ? 'h4' : 'h3';
  return (
    <article class={`finding ${finding.severity}`} id={`finding-${finding.id}`}>
      <header>
        <Title data-n={gain ? 'diagnosis.predicted_step_ns' : undefined}>
          {finding.number !== null && <span class="number">{finding.number}</span>}
          {finding.title}
        </Title>
        {gain && (
          <p class="gain" data-n="diagnosis.predicted_step_ns">
            saves <b>{gain.likely}</b> <Aside>{gain.range}</Aside>
          </p>
        )}
      </header>
      <p class="tags">
        <Term id={finding.rule} />
        <span>confidence {finding.confidence}</span>
        <span>effort: {finding.effort}</span>
        <span>{finding.severity}</span>
      </p>
      <dl>
        <dt>Evidence</dt>
        <dd>
          <ul>
            {finding.evidence.map((evidence, i) => (
              <Proof key={i} evidence={evidence} diagnosis={props.diagnosis} context={context} />
            ))}
          </ul>
        </dd>
        {finding.counter_evidence && (
          <>
            <dt>Against it</dt>
            <dd>{finding.counter_evidence}</dd>
          </>
        )}
        <dt>Change</dt>
        <dd>
          {finding.fix.text}
          {(finding.fix.before || finding.fix.after) && (
            <div class="fix">
              {finding.fix.before && (
                <pre tabIndex={0} aria-label="Before">
                  {finding.fix.before}
                </pre>
              )}
              {finding.fix.after && (
                <pre tabIndex={0} class="after" aria-label="After">
                  {finding.fix.after}
                </pre>
              )}
            </div>
          )}
        </dd>
        {finding.verify && (
          <>
            <dt>Verify</dt>
            <dd>
              {/^fathom /.test(finding.verify) ? (
                <CommandLine command={finding.verify} />
              ) : (
                finding.verify
              )}
            </dd>
          </>
        )}
        {finding.assumption && (
          <>
            <dt>Assumes</dt>
            <dd class="soft">{finding.assumption}</dd>
          </>
        )}
      </dl>
      {finding.predicted_step_ns && (
        <Try finding={finding} diagnosis={props.diagnosis} context={context} />
      )}
      {(finding.alternatives ?? []).length > 0 && (
        <details>
          <summary>Also found of the same cause</summary>
          {finding.alternatives?.map((each) => (
            <FindingCard key={each.id} {...props} finding={each} level={4} />
          ))}
        </details>
      )}
    </article>
  );
}
