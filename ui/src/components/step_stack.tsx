// A step as a bar of its accounting, as high as its share of the longest.
import { partsOf } from '../base/palette';
import type { StepAccount } from '../api/types';

export const StepStack = (props: { step: StepAccount; longest: number }) => (
  <span class="stack" style={{ height: `${(100 * props.step.window_ns) / props.longest}%` }}>
    {partsOf(props.step.account_ns).map((part) => (
      <i key={part.id} class={`fill-${part.paint.css}`} style={{ flexGrow: String(part.ns) }} />
    ))}
  </span>
);
