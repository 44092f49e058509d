// The length of each step as bars of its accounting; a click or a drag selects steps.
import { useRef, useState } from 'preact/hooks';
import { durationText } from '../base/format';
import { StepStack } from './step_stack';
import type { StepAccount } from '../api/types';
import { longestOf } from './longest_steps';

export function StepChart(props: {
  steps: readonly StepAccount[];
  median: number;
  selected: string;
  onSelect: (steps: string) => void;
}) {
  const [from, setFrom] = useState<number | null>(null);
  const [to, setTo] = useState<number | null>(null);
  const row = useRef<HTMLDivElement>(null);
  const shown = longestOf(props.steps);
  const longest = Math.max(1, ...shown.map((step) => step.window_ns));
  const inDrag = (at: number): boolean =>
    from !== null && to !== null && at >= Math.min(from, to) && at <= Math.max(from, to);
  const range = /^(\d+)(?:-(\d+))?$/.exec(props.selected);
  const isSelected = (step: number): boolean =>
    range !== null && step >= Number(range[1]) && step <= Number(range[2] ?? range[1]);
  const finish = (end: number): void => {
    const [a, b] = [from ?? end, end].sort((x, y) => x - y);
    const first = shown[a ?? end]?.step;
    const last = shown[b ?? end]?.step;
    setFrom(null);
    setTo(null);
    if (first === undefined || last === undefined) return;
    const text = first === last ? String(first) : `${first}-${last}`;
    props.onSelect(text === props.selected ? '' : text);
  };
  return (
    <figure
      class="steps"
      data-n="diagnosis.steps"
      style={{ maxWidth: `${Math.max(240, shown.length * 56)}px` }}
    >
      <figcaption class="soft">
        Step time, longest {durationText(longest)}; the line is the median. Click or drag to look at
        some steps only.
        {shown.length < props.steps.length &&
          ` Of ${props.steps.length} steps, each bar is the longest of its neighbours.`}
      </figcaption>
      <div class="step-bars" ref={row} onPointerLeave={() => setFrom(null)}>
        {shown.map((step, at) => (
          <button
            key={step.step}
            class={inDrag(at) || isSelected(step.step) ? 'step on' : 'step'}
            aria-pressed={isSelected(step.step)}
            aria-label={`Step ${step.step}, ${durationText(step.window_ns)}${step.outlier ? ', outlier' : ''}`}
            title={`Step ${step.step}: ${durationText(step.window_ns)}${step.outlier ? ' (outlier)' : ''}`}
            onPointerDown={() => {
              setFrom(at);
              setTo(at);
            }}
            onPointerEnter={() => from !== null && setTo(at)}
            onPointerUp={() => finish(at)}
            onClick={(event) => event.detail === 0 && finish(at)}
          >
            <StepStack step={step} longest={longest} />
          </button>
        ))}
        <span
          class="median"
          aria-hidden="true"
          style={{ bottom: `${(100 * Math.min(props.median, longest)) / longest}%` }}
        />
      </div>
      <div class="axis soft" aria-hidden="true">
        <span>step {shown[0]?.step}</span>
        <span>{shown.at(-1)?.step}</span>
      </div>
    </figure>
  );
}
