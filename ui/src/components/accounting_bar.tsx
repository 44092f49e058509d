// The accounting of some time as one bar, with its legend: each nanosecond in one part.
import { durationText, percentText } from '../base/format';
import { partsOf, type Part } from '../base/palette';
import { Aside, Soft, Term } from './plain';

export function Swatch(props: { css: string }) {
  return <i class={`swatch fill-${props.css}`} aria-hidden="true" />;
}

/** The command line's letter, where it has one; its blocks and dots are what the swatch shows. */
const letterOf = (part: Part): string => part.paint.letter.replace(/[█▓▒░·]/, '');

function Legend(props: { parts: readonly Part[]; whole: number; times: boolean }) {
  return (
    <ul class="legend">
      {props.parts.map((part) => (
        <li key={part.id}>
          <Swatch css={part.paint.css} />
          <span class="letter" aria-hidden="true">
            {letterOf(part)}
          </span>
          <Term id={part.id}>{part.paint.name}</Term>{' '}
          <b>{percentText((100 * part.ns) / props.whole)}</b>
          {props.times && <Aside> {durationText(part.ns)}</Aside>}
        </li>
      ))}
    </ul>
  );
}

export function AccountingBar(props: {
  account: Readonly<Record<string, number>>;
  label: string;
  times?: boolean;
  thin?: boolean;
  /** Which number it is, for what a damaged capture harms. */
  of: string;
}) {
  const parts = partsOf(props.account);
  const whole = parts.reduce((sum, part) => sum + part.ns, 0);
  if (whole <= 0) return <Soft>No time to account for.</Soft>;
  const said = parts.map((part) => `${part.paint.name} ${percentText((100 * part.ns) / whole)}`);
  return (
    <div class="accounting" data-n={props.of}>
      <div
        class={props.thin ? 'bar thin' : 'bar'}
        role="img"
        aria-label={`${props.label}: ${said.join(', ')}`}
      >
        {parts.map((part) => (
          <span
            key={part.id}
            class={`fill-${part.paint.css}`}
            style={{ flexGrow: String(part.ns / whole) }}
            title={`${part.paint.name} ${percentText((100 * part.ns) / whole)}, ${durationText(part.ns)}`}
          >
            {part.ns / whole > 0.04 && <b>{letterOf(part)}</b>}
          </span>
        ))}
      </div>
      <Legend parts={parts} whole={whole} times={props.times ?? false} />
    </div>
  );
}
