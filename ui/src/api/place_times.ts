// Where operators spend their time: by phase, in it by module, and there by operator.
import type { Row } from './types';

/** What has been chosen on the way down. */
export interface Place {
  readonly phase?: string;
  readonly module?: string;
}

export interface PlaceTime {
  readonly name: string;
  readonly self_ns: number;
  readonly percent: number;
}

/** Where operators' time is counted: on the device, where it worked at all. */
export const workedOn = (rows: readonly Row[]): 'device' | 'host' =>
  rows.some((row) => Number(row['device_self_ns']) > 0) ? 'device' : 'host';

/** The self times of a place, the longest first, of `fathom ops --group-by place`. */
export function placeTimes(
  rows: readonly Row[],
  by: 'phase' | 'module' | 'name',
  place: Place,
): PlaceTime[] {
  const column = `${workedOn(rows)}_self_ns`;
  const times = new Map<string, number>();
  let all = 0;
  for (const row of rows) {
    const ns = Number(row[column] ?? 0);
    all += ns;
    const text = (of: string): string => String(row[of] ?? '');
    if (Object.entries(place).some(([of, value]) => text(of) !== value)) continue;
    times.set(text(by), (times.get(text(by)) ?? 0) + ns);
  }
  return [...times]
    .filter(([, ns]) => ns > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, ns]) => ({ name, self_ns: ns, percent: (100 * ns) / all }));
}
