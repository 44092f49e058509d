// What is looked at: the command line's selection, shared by all views.
export interface Scope {
  readonly steps: string; // "3-7", "" for all
  readonly device: string; // "0", "" for all
  readonly window: string; // "1000ns:2000ns", "" for all
  readonly focus: string; // of a diagnosis: "backward"
  readonly input: string; // which of several recordings, by its index: a rank, or the second to compare
}

export const WHOLE: Scope = { steps: '', device: '', window: '', focus: '', input: '' };

export const SCOPE_KEYS = ['steps', 'device', 'window', 'focus', 'input'] as const;

const WIDER = [
  ['time', 'all of the time', ['steps', 'window']],
  ['device', 'all devices', ['device']],
  ['focus', 'whole steps', ['focus']],
] as const;

/** What a view shows beyond a scope of which it only knows these parts, as a sentence; "" where it shows just that. */
export function beyondScope(scope: Scope, known: readonly (keyof Scope)[]): string {
  const wider = WIDER.filter(([, , keys]) =>
    keys.some((key) => scope[key] !== '' && !known.includes(key)),
  );
  const list = (texts: readonly string[]): string => texts.join(' and ');
  return wider.length === 0
    ? ''
    : `Shown here: ${list(wider.map(([, shown]) => shown))}, whatever ${list(wider.map(([name]) => name))} the scope says.`;
}

export function windowOf(begin: number, end: number): string {
  return `${Math.max(0, Math.round(begin))}ns:${Math.max(0, Math.round(end))}ns`;
}

const FACTORS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  ms: 1e6,
  s: 1e9,
  min: 60e9,
};

function distance(text: string, open: number): number | undefined {
  if (text === '') return open;
  const match = /^([\d.]+(?:e[+-]?\d+)?)(ns|us|µs|ms|s|min)$/.exec(text.trim());
  const factor = FACTORS[match?.[2] ?? ''];
  return match && factor !== undefined ? Math.round(Number(match[1]) * factor) : undefined;
}

/** The ends of "10ms:25ms", which may be open; undefined where it is no window. */
export function parseWindow(text: string, whole: { begin: number; end: number }) {
  const parts = text.split(':');
  if (parts.length !== 2) return undefined;
  const begin = distance(parts[0] ?? '', whole.begin);
  const end = distance(parts[1] ?? '', whole.end);
  return begin === undefined || end === undefined || end <= begin ? undefined : { begin, end };
}
