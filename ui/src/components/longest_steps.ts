// Of more steps than there is room for, those that must not be missed.

const MOST = 240;

/** The longest step of each of `most` equal stretches, in order: the longest of all is among them. */
export function longestOf<Step extends { readonly window_ns: number }>(
  steps: readonly Step[],
  most = MOST,
): readonly Step[] {
  if (steps.length <= most) return steps;
  return Array.from({ length: most }, (_, i) =>
    steps
      .slice(Math.floor((i * steps.length) / most), Math.floor(((i + 1) * steps.length) / most))
      .reduce((longest, step) => (step.window_ns > longest.window_ns ? step : longest)),
  );
}
