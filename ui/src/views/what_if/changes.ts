// The changes of a what-if: switches, and targets that are scaled.
import type { Change } from '../../base/view_state';

export interface Switch {
  readonly option: string;
  readonly title: string;
}

export const SWITCHES: readonly Switch[] = [
  { option: 'remove-syncs', title: 'No call waits for the device' },
  { option: 'overlap-input', title: 'Data is loaded ahead' },
  { option: 'launch-once', title: 'Launches captured into graphs' },
  { option: 'pin-copies', title: 'Copies use pinned memory' },
  { option: 'hide-communication', title: 'Communication beside computation' },
];

/** "aten::mm=0.5" is the target aten::mm and the factor 0.5. */
export function scaleOf(value: string): { target: string; factor: number } {
  const at = value.lastIndexOf('=');
  const factor = Number(value.slice(at + 1));
  return { target: value.slice(0, at), factor: Number.isFinite(factor) ? factor : 1 };
}

/** `changes` with the target at this factor; at 1 it is no change, unless it is to stay as a slider. */
export function scaled(changes: readonly Change[], target: string, factor: number): Change[] {
  const text = `${target}=${Number(factor.toFixed(2))}`;
  const at = changes.findIndex(
    ([option, value]) => option === 'scale' && scaleOf(value).target === target,
  );
  if (at < 0) return [...changes, ['scale', text]];
  return changes.map((change, i) => (i === at ? ['scale', text] : change));
}

export const without = (changes: readonly Change[], gone: Change): Change[] =>
  changes.filter((change) => change !== gone);

export const isOn = (changes: readonly Change[], option: string): boolean =>
  changes.some(([name]) => name === option);

export const switched = (changes: readonly Change[], option: string): Change[] =>
  isOn(changes, option) ? changes.filter(([name]) => name !== option) : [...changes, [option, '']];
