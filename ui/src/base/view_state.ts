// All that a link holds, and its writing as the fragment of the address.
import { SCOPE_KEYS, WHOLE, type Scope } from './scope';

/** Changes that a what-if replays: options of `fathom whatif` in order, as name and value. */
export type Change = readonly [option: string, value: string];

export interface Mark {
  readonly at: number;
  readonly label: string;
}

export interface ViewState {
  readonly view: string;
  readonly scope: Scope;
  /** What the timeline shows, in ns; null for all. */
  readonly visible: readonly [number, number] | null;
  /** How far its tracks are scrolled; null where that is for the timeline to choose. */
  readonly top: number | null;
  readonly slice: number | null;
  /** A selected area: from, to, and tracks. */
  readonly area: {
    readonly begin: number;
    readonly end: number;
    readonly tracks: readonly number[];
  } | null;
  readonly pins: readonly number[];
  readonly marks: readonly Mark[];
  readonly changes: readonly Change[];
  readonly whatIf: boolean;
  readonly report: string;
  readonly sort: string;
  readonly filter: string;
  readonly groupBy: string;
  /** An id of a finding that is open. */
  readonly finding: string;
  readonly search: string;
  /** Of the flame graph: what widths mean, the order of calls, and the frames that are searched. */
  readonly width: string;
  readonly order: string;
  readonly frames: string;
  /** Of the timeline: tracks that are folded or unfolded by hand, groups that are closed, and the critical path. */
  readonly turned: readonly number[];
  readonly closed: readonly string[];
  readonly critical: boolean;
}

export const START: ViewState = {
  view: 'diagnosis',
  scope: WHOLE,
  visible: null,
  top: null,
  slice: null,
  area: null,
  pins: [],
  marks: [],
  changes: [],
  whatIf: false,
  report: '',
  sort: '',
  filter: '',
  groupBy: '',
  finding: '',
  search: '',
  width: '',
  order: '',
  frames: '',
  turned: [],
  closed: [],
  critical: false,
};

const TEXTS = [
  ['report', 'r'],
  ['sort', 'sort'],
  ['filter', 'filter'],
  ['groupBy', 'group-by'],
  ['finding', 'finding'],
  ['search', 'q'],
  ['width', 'width'],
  ['order', 'order'],
  ['frames', 'f'],
] as const;

const numbersOf = (text: string, separator: string): number[] =>
  text.split(separator).map(Number).filter(Number.isFinite);

/** The fragment without its "#". What is as at the start is left out. */
export function encodeState(state: ViewState): string {
  const out: string[] = [];
  const put = (key: string, value: string): void => {
    // Only what would end or split a pair is escaped, so that links stay readable.
    out.push(`${key}=${encodeURIComponent(value).replace(/%(3A|2C|2F|40)/g, decodeURIComponent)}`);
  };
  if (state.view !== START.view) put('v', state.view);
  for (const key of SCOPE_KEYS) if (state.scope[key] !== '') put(key, state.scope[key]);
  if (state.visible) put('t', `${Math.round(state.visible[0])}-${Math.round(state.visible[1])}`);
  if (state.top !== null && state.view === 'timeline') put('y', String(state.top));
  if (state.slice !== null) put('s', String(state.slice));
  if (state.area) {
    put('a', `${state.area.begin}-${state.area.end}:${state.area.tracks.join(',')}`);
  }
  if (state.pins.length > 0) put('pin', state.pins.join(','));
  for (const mark of state.marks) put('m', `${mark.at}:${mark.label}`);
  for (const [option, value] of state.changes)
    put('w', value === '' ? option : `${option}:${value}`);
  if (state.turned.length > 0) put('fold', state.turned.join(','));
  for (const group of state.closed) put('close', group);
  if (state.critical) put('critical', '1');
  if (state.whatIf) put('x', '1');
  for (const [field, key] of TEXTS) if (state[field] !== '') put(key, state[field]);
  return out.join('&');
}

/** The state that a fragment describes. What it does not say, or says wrongly, is as at the start. */
export function decodeState(fragment: string): ViewState {
  const found: { -readonly [Key in keyof ViewState]: ViewState[Key] } = { ...START };
  const scope: Record<string, string> = { ...WHOLE };
  const marks: Mark[] = [];
  const changes: Change[] = [];
  const closed: string[] = [];
  for (const pair of fragment.replace(/^#/, '').split('&')) {
    const at = pair.indexOf('=');
    if (at <= 0) continue;
    const key = pair.slice(0, at);
    let value: string;
    try {
      value = decodeURIComponent(pair.slice(at + 1));
    } catch {
      continue;
    }
    const text = TEXTS.find(([, short]) => short === key);
    if (text) found[text[0]] = value;
    else if ((SCOPE_KEYS as readonly string[]).includes(key)) scope[key] = value;
    else if (key === 'v') found.view = value;
    else if (key === 't') {
      const [begin, end] = numbersOf(value, '-');
      if (begin !== undefined && end !== undefined && end > begin) found.visible = [begin, end];
    } else if (key === 'y' && /^\d+$/.test(value)) found.top = Number(value);
    else if (key === 's' && /^\d+$/.test(value)) found.slice = Number(value);
    else if (key === 'a') {
      const match = /^(\d+)-(\d+):([\d,]*)$/.exec(value);
      if (match) {
        found.area = {
          begin: Number(match[1]),
          end: Number(match[2]),
          tracks: match[3] ? numbersOf(match[3], ',') : [],
        };
      }
    } else if (key === 'pin') found.pins = numbersOf(value, ',');
    else if (key === 'fold') found.turned = numbersOf(value, ',');
    else if (key === 'close') closed.push(value);
    else if (key === 'critical') found.critical = value === '1';
    else if (key === 'm') {
      const match = /^(\d+):(.*)$/s.exec(value);
      if (match) marks.push({ at: Number(match[1]), label: match[2] ?? '' });
    } else if (key === 'w') {
      const colon = value.indexOf(':');
      changes.push(colon < 0 ? [value, ''] : [value.slice(0, colon), value.slice(colon + 1)]);
    } else if (key === 'x') found.whatIf = value === '1';
  }
  found.scope = scope as unknown as Scope;
  found.marks = marks;
  found.changes = changes;
  found.closed = closed;
  return found;
}
