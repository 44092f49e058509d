// Phase 0: can the capture be trusted? As a badge above, in full below.
import type { Diagnosis } from '../../api/types';
import { RowHead, Section, Small, Soft } from '../../components/plain';

type Health = 'good' | 'note' | 'warning' | 'bad';

export function healthOf(diagnosis: Diagnosis): { state: Health; text: string } {
  const count = (status: string): number =>
    diagnosis.health.filter((check) => check.status === status).length;
  const [bad, warning, note] = [count('bad'), count('warning'), count('note')];
  const checks = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
  if (bad > 0) return { state: 'bad', text: `${checks(bad, 'check')} failed` };
  if (warning > 0) return { state: 'warning', text: checks(warning, 'warning') };
  if (note > 0) return { state: 'note', text: `Capture sound, ${checks(note, 'note')}` };
  return { state: 'good', text: 'Capture sound' };
}

const SIGNS: Readonly<Record<string, string>> = { bad: '✗', warning: '!', note: 'i', good: '✓' };

export function HealthBadge(props: { diagnosis: Diagnosis }) {
  const { state, text } = healthOf(props.diagnosis);
  return (
    <a
      class={`badge ${state}`}
      href="#capture"
      onClick={(event) => {
        event.preventDefault();
        document.getElementById('capture')?.scrollIntoView();
      }}
    >
      <b aria-hidden="true">{SIGNS[state]}</b> {text}
    </a>
  );
}

const CHECK_MARKS = { met: '✓ met', not_met: '✗ not met', not_recordable: '– not recordable' };

export function Capture(props: { diagnosis: Diagnosis }) {
  const { diagnosis } = props;
  return (
    <Section id="capture" title="Can the capture be trusted?">
      {diagnosis.health.length === 0 && <p>All checks of the capture are fine.</p>}
      <ul class="checks">
        {diagnosis.health.map((check) => (
          <li key={check.check}>
            <b class={check.status}>
              <span aria-hidden="true">{SIGNS[check.status]} </span>
              {check.status}
            </b>{' '}
            {check.sentence + (check.harms.length > 0 ? '; its numbers are greyed' : '')}
          </li>
        ))}
      </ul>
      <details>
        <summary>Checklist of a recording to judge by</summary>
        <Small>
          {diagnosis.checklist.map((item) => (
            <tr key={item.id}>
              <RowHead>{item.title}</RowHead>
              <td class={item.status}>{CHECK_MARKS[item.status]}</td>
              <td>{item.reason}</td>
            </tr>
          ))}
        </Small>
      </details>
      {diagnosis.notes.map((note) => (
        <Soft key={note}>{note}</Soft>
      ))}
    </Section>
  );
}
