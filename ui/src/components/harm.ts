// Greys the numbers that a damaged capture harms: by one style sheet, of what the server says that its failed checks harm.
// An element with a number names it in data-n, as REPORT.COLUMN or PLACE.NAME (src/engine/diagnosis/harm.h).
import type { Diagnosis } from '../api/types';

const sheet = (): CSSStyleSheet => {
  const made = new CSSStyleSheet();
  document.adoptedStyleSheets.push(made);
  return made;
};
let sheets: readonly CSSStyleSheet[] | undefined;

/** The selector of a pattern: * is all places that have such a number, or all numbers of a place. */
export const selectorOf = (pattern: string): string =>
  pattern.startsWith('*')
    ? `[data-n$="${pattern.slice(1)}"]`
    : pattern.endsWith('*')
      ? `[data-n^="${pattern.slice(0, -1)}"]`
      : `[data-n="${pattern}"]`;

/** `other`: of a second recording, which only what is compared shows. */
export function greyHarmed(diagnosis: Diagnosis, other: boolean): void {
  sheets ??= [sheet(), sheet()];
  const found = [...new Set(diagnosis.health.flatMap((check) => check.harms))]
    .filter((pattern) => !other || pattern.startsWith('compare'))
    .map(selectorOf);
  const all = `:is(${found.join()})`;
  sheets[other ? 1 : 0]?.replaceSync(
    found.length > 0
      ? `${all},${all} *{color:var(--soft);font-style:italic}${all}{filter:grayscale(1)}${all}:not(figure,.gain,.accounting,.icicle)::after{content:" ?"}`
      : '',
  );
}
