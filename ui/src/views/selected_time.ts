// The time that a scope selects, for questions that take a begin and an end.
import { parseWindow } from '../base/scope';
import type { ViewContext } from './view';

/** The time that the scope selects, in ns; null for all. */
export function selectedTime(context: ViewContext): readonly [number, number] | null {
  const { scope } = context.state.value;
  const range = context.session.range ?? { begin_ns: 0, end_ns: 0 };
  if (scope.window !== '') {
    const span = context.session.span ?? range;
    const { origin } = context;
    const window = parseWindow(scope.window, { begin: 0, end: span.end_ns - origin });
    if (window) return [origin + window.begin, origin + window.end];
  }
  const match = /^(\d*)(-?)(\d*)$/.exec(scope.steps);
  if (scope.steps === '' || !match) return null;
  const first = match[1] === '' ? 0 : Number(match[1]);
  const last = match[2] === '' ? first : match[3] === '' ? Infinity : Number(match[3]);
  const steps = (context.session.steps ?? []).filter(
    (step) => step.number >= first && step.number <= last,
  );
  if (steps.length === 0) return null;
  return [
    Math.min(...steps.map((step) => step.begin_ns)),
    Math.max(...steps.map((step) => step.end_ns)),
  ];
}
