// Quantities of a trace as branded numbers: whole nanoseconds since its start, durations, bytes.
declare const brand: unique symbol;
type Branded<Tag> = number & { readonly [brand]: Tag };

/** Nanoseconds since the start of the trace; exact in a double for 104 days. */
export type TimeNs = Branded<'time'>;
export type DurationNs = Branded<'duration'>;
export type Bytes = Branded<'bytes'>;

export const timeNs = (ns: number): TimeNs => ns as TimeNs;
export const durationNs = (ns: number): DurationNs => ns as DurationNs;
export const bytes = (count: number): Bytes => count as Bytes;

/** A stretch of time, half open. */
export interface Range {
  readonly begin: TimeNs;
  readonly end: TimeNs;
}

export const lengthOf = (range: Range): DurationNs => durationNs(range.end - range.begin);
