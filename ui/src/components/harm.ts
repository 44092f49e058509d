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

/** Selects what is harmed of the recording that is shown, and of the other. */
const harmed = ['b', 'b'];

/** For what is no element: is that number harmed? */
export function isHarmed(number: string, other = false): boolean {
  const like = document.createElement('i');
  like.dataset['n'] = number;
  return like.matches(harmed[Number(other)] ?? '');
}

/** `other`: of a second recording, which only what is compared shows. */
export function greyHarmed(diagnosis: Diagnosis, other: boolean): void {
  sheets ??= [sheet(), sheet()];
  const selected = (patterns: readonly string[]): string =>
    `:is(${patterns.map(selectorOf).join()})`;
  const patterns = [...new Set(diagnosis.health.flatMap((check) => check.harms))];
  harmed[Number(other)] = selected(patterns);
  const found = patterns.filter((pattern) => !other || pattern.startsWith('compare'));
  const all = selected(found);
  sheets[other ? 1 : 0]?.replaceSync(
    found.length > 0
      ? `${all},${all} *{color:var(--soft);font-style:italic}${all}{filter:grayscale(1)}${all}:not(figure,.gain,.accounting,.icicle)::after{content:" ?"}`
      : '',
  );
  // Canvases are painted anew.
  dispatchEvent(new Event('fathom-theme'));
}
