// The table, and the filter of it, whose rows slices are counted in.
import { exactPattern } from '../base/text';
import type { SliceAnswer } from './types';

export interface TableRows {
  readonly report: string;
  readonly filter: string;
}

/** Of an address, which may not be long. */
const MOST = 1500;

/** Conditions are divided by "&": a name that has one in it is found with any character there. */
const patternOf = (name: string): string => exactPattern(name).replaceAll('&', '.');

function reportOf(slice: SliceAnswer): string {
  switch (slice['kind']) {
    case 'kernel':
      return 'kernels';
    case 'cpu_op':
    case 'user_annotation':
      return 'ops';
    case 'runtime':
    case 'driver':
      return slice.links?.['kernels_total'] ? 'launches' : 'syncs';
    case 'memcpy':
    case 'memset':
      return 'copies';
    default:
      return '';
  }
}

function filterOf(report: string, slices: readonly SliceAnswer[]): string {
  if (report === 'copies') {
    const [copy] = slices;
    return `kind=${copy?.['copy_kind']} & source=${copy?.['source']} & destination=${copy?.['destination']}`;
  }
  let pattern = '';
  for (const name of new Set(slices.map((slice) => slice.name))) {
    const longer = pattern === '' ? patternOf(name) : `${pattern}|${patternOf(name)}`;
    if (longer.length > MOST) break;
    pattern = longer;
  }
  return pattern === '' ? '' : `name~${pattern}`;
}

/** The rows of the first slice that a table has, and of the others in the same table; null where none has one. */
export function rowsOf(slices: readonly SliceAnswer[]): TableRows | null {
  const report = slices.map(reportOf).find((each) => each !== '');
  if (report === undefined) return null;
  const same = slices.filter((slice) => reportOf(slice) === report);
  return { report, filter: filterOf(report, same) };
}
