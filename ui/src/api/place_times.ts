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

/** The self times of a place, the longest first, of `fathom ops --group-by place`: on the device where it worked at all. */
export function placeTimes(
  rows: readonly Row[],
  by: 'phase' | 'module' | 'name',
  place: Place,
): PlaceTime[] {
  const device = rows.some((row) => Number(row['device_self_ns']) > 0);
  const times = new Map<string, number>();
  let all = 0;
  for (const row of rows) {
    const ns = Number(row[device ? 'device_self_ns' : 'host_self_ns'] ?? 0);
    all += ns;
    const text = (column: string): string => String(row[column] ?? '');
    if (Object.entries(place).some(([column, value]) => text(column) !== value)) continue;
    times.set(text(by), (times.get(text(by)) ?? 0) + ns);
  }
  return [...times]
    .filter(([, ns]) => ns > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, ns]) => ({ name, self_ns: ns, percent: (100 * ns) / all }));
}
