// Values as people read them; the same text as the command line prints (base/quantity_text.cc).

const NO_VALUE = '–';

/** 1234567 is "1,234,567". */
export function countText(value: number): string {
  const digits = String(Math.abs(Math.round(value)));
  return (value < 0 ? '-' : '') + digits.replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Four significant digits for |value| < 10^4, whole digits above; trailing zeros stay: they align. */
function significant(value: number): string {
  const size = Math.abs(value);
  return value.toFixed(size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0);
}

function scaled(value: number, unit: string): string {
  return `${Math.abs(value) >= 999.95 ? countText(value) : significant(value)} ${unit}`;
}

/** "850 ns", "12.34 µs", "1.235 s". */
export function durationText(ns: number): string {
  const size = Math.abs(ns);
  if (size < 1e3) return `${Math.round(ns)} ns`;
  if (size < 999.95e3) return scaled(ns / 1e3, 'µs');
  if (size < 999.95e6) return scaled(ns / 1e6, 'ms');
  return scaled(ns / 1e9, 's');
}

/** "512 B", "1.500 MiB". */
export function bytesText(count: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let value = count;
  let unit = 0;
  while (Math.abs(value) >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  return `${Number.isInteger(value) ? String(value) : significant(value)} ${units[unit] ?? ''}`;
}

export function realText(value: number): string {
  if (!Number.isFinite(value)) return NO_VALUE;
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e15 || size < 1e-3) {
    return value.toExponential(3).replace(/e([+-])(\d)$/, 'e$10$2');
  }
  return size >= 999.95 ? countText(value) : significant(value);
}

export function percentText(percent: number): string {
  if (!Number.isFinite(percent)) return NO_VALUE;
  const size = Math.abs(percent);
  if (size !== 0 && size < 0.005) return percent < 0 ? '> −0.01 %' : '< 0.01 %';
  return `${percent.toFixed(size !== 0 && size < 0.095 ? 2 : 1)} %`;
}

/** A time on an axis: as many digits as `step`, the distance of two ticks, needs. */
export function axisText(ns: number, step: number): string {
  const [factor, unit] =
    step >= 1e9 ? [1e9, 's'] : step >= 1e6 ? [1e6, 'ms'] : step >= 1e3 ? [1e3, 'µs'] : [1, 'ns'];
  const value = ns / factor;
  const text = Number.isInteger(value) ? countText(value) : value.toFixed(3).replace(/0+$/, '');
  return `${text} ${unit}`;
}

/** The distance of ticks, 1, 2 or 5 times a power of ten, at least `least`. */
export function tickStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  for (const times of [1, 2, 5, 10]) if (power * times >= least) return power * times;
  return power * 10;
}

/** A cell of a table by the kind that its column declares. */
export function valueText(value: unknown, kind: string): string {
  if (value === null || value === undefined) return NO_VALUE;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'number') return String(value);
  switch (kind) {
    case 'duration_ns':
    case 'time_ns':
      return durationText(value);
    case 'bytes':
      return bytesText(value);
    case 'percent':
      return percentText(value);
    case 'count':
      return countText(value);
    case 'integer':
      return String(value);
    default:
      return realText(value);
  }
}

/** A value that names its own unit, as rows of some tables do. */
export function valueTextIn(value: unknown, unit: string): string {
  const kinds: Readonly<Record<string, string>> = {
    ns: 'duration_ns',
    bytes: 'bytes',
    percent: 'percent',
    count: 'count',
  };
  const text = valueText(value, kinds[unit] ?? 'real');
  return kinds[unit] !== undefined || unit === '' || typeof value !== 'number'
    ? text
    : `${text} ${unit}`;
}

/** A value of a counter: what counts whole things has no decimals. */
export const counterText = (value: number, unit: string): string =>
  Number.isInteger(value) && !/^(ns|bytes|percent)$/.test(unit)
    ? `${countText(value)} ${unit}`.trim()
    : valueTextIn(value, unit);

/** "device_self_ns" is "device self", "share_percent" is "share %". */
export function headingText(name: string, unit: string): string {
  const bare = name
    .replace(/_(ns|bytes)$/, '')
    .replace(/_percent$/, unit === 'percent' ? ' %' : '')
    .replaceAll('_', ' ');
  return bare;
}
