// Paths of the server, and the command lines that say the same.
import type { SessionInfo } from './types';
import type { Scope } from '../base/scope';
import { shellWord } from '../base/text';
import { encodeState, type Change, type ViewState } from '../base/view_state';

export type Options = readonly (readonly [name: string, value: string | number])[];

/** `path?a=1&b=2`, options in alphabetical order so that equal questions have equal paths; empty ones are left out. */
export function pathOf(path: string, options: Options = []): string {
  const said = options.filter(([, value]) => value !== '');
  const sorted = [...said].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const query = sorted
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

export type ScopeKey = keyof Scope;

/** The parts of a scope that a question takes, as its options. */
export function scopeOptions(scope: Scope, keys: readonly ScopeKey[]): Options {
  return keys.map((key) => [key, scope[key]] as const);
}

export const TABLE_SCOPE: readonly ScopeKey[] = ['steps', 'device', 'window'];
export const DIAGNOSIS_SCOPE: readonly ScopeKey[] = ['steps', 'device', 'window', 'focus'];
/** Of what is asked with a begin and an end. */
export const TIME_SCOPE: readonly ScopeKey[] = ['steps', 'window'];
export const WHAT_IF_SCOPE = TIME_SCOPE;
/** Of each rank: devices have other numbers there. */
export const RANK_SCOPE: readonly ScopeKey[] = ['steps', 'window', 'focus'];

export const whatIfPath = (changes: readonly Change[], scope: Scope): string =>
  pathOf('api/whatif', [
    ...changes.map(([option, value]) => [option, value === '' ? '1' : value] as const),
    ...scopeOptions(scope, WHAT_IF_SCOPE),
  ]);

/** `inputs` are words of a shell already. */
function commandOf(command: string, options: Options, inputs: string): string {
  const words = ['fathom', command];
  for (const [name, value] of options) {
    if (value === '') continue;
    words.push(`--${name}`, shellWord(String(value)));
  }
  return [...words, inputs].join(' ');
}

/** The inputs as they were typed, as words of a shell: what the command line of a server says behind its options. */
export function typedInputs(session: SessionInfo): string {
  const options = /^fathom view(?: --(?:steps|device|window) (?:[^\s'\\]|\\'|'[^']*')+)* /;
  const { command = '' } = session;
  return options.test(command) ? command.replace(options, '') : shellWord(session.input);
}

/** Of ranks that were diagnosed together, all inputs are asked for, as they were then. */
export const diagnoseCommand = (
  scope: Scope,
  session: SessionInfo,
  diagnosis: { readonly ranks: object | null },
): string =>
  commandOf(
    'diagnose',
    scopeOptions(scope, DIAGNOSIS_SCOPE),
    diagnosis.ranks && scope.input === '' ? typedInputs(session) : shellWord(session.input),
  );

/** Opens this picture: for what no other command shows. */
export const viewCommand = (state: ViewState, session: SessionInfo): string =>
  `fathom view ${typedInputs(session)}${shellWord(`#${encodeState(state)}`)}`;

export interface TableQuestion {
  readonly sort: string;
  readonly filter: string;
  readonly groupBy: string;
  readonly limit?: number;
}

/** A table as it comes. */
export const AS_IT_IS: TableQuestion = { sort: '', filter: '', groupBy: '' };

/** Conditions of a filter are separated by " & "; each is an option of its own. */
function tableOptions(question: TableQuestion): Options {
  return [
    ['sort', question.sort],
    ...question.filter
      .split('&')
      .map((one) => ['filter', one.trim()] as const)
      .filter(([, one]) => one !== ''),
    ['group-by', question.groupBy],
    ['limit', question.limit ?? ''],
  ];
}

export const tablePath = (report: string, question: TableQuestion, scope: Scope): string =>
  pathOf(`api/reports/${report}`, [...tableOptions(question), ...scopeOptions(scope, TABLE_SCOPE)]);

export const tableCommand = (
  report: string,
  question: TableQuestion,
  scope: Scope,
  input: string,
): string =>
  commandOf(
    report,
    [...tableOptions(question), ...scopeOptions(scope, TABLE_SCOPE)],
    shellWord(input),
  );

export function whatIfCommand(changes: readonly Change[], scope: Scope, input: string): string {
  const words = ['fathom', 'whatif'];
  for (const [option, value] of changes) {
    words.push(`--${option}`);
    if (value !== '') words.push(shellWord(value));
  }
  for (const [name, value] of scopeOptions(scope, WHAT_IF_SCOPE)) {
    if (value !== '') words.push(`--${name}`, shellWord(String(value)));
  }
  return [...words, shellWord(input)].join(' ');
}

export const compareCommand = (base: string, next: string): string =>
  `fathom compare ${shellWord(base)} ${shellWord(next)}`;

/** The same question about another recording of those that were opened, unless it names one itself. */
export function withInput(path: string, input: string): string {
  if (input === '' || input === '0' || /[?&]input=/.test(path)) return path;
  const [before = '', query = ''] = path.split('?', 2);
  const options = [
    ...query.split('&').filter((one) => one !== ''),
    `input=${encodeURIComponent(input)}`,
  ];
  const nameOf = (option: string): string => option.split('=', 1)[0] ?? '';
  options.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
  return `${before}?${options.join('&')}`;
}
