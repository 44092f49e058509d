// Which stretch of time is in sight, and how it moves.
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** Nanoseconds at the least that fill the width: below, nothing new is to be seen. */
const SHORTEST = 50;

export class Viewport {
  begin: number;
  end: number;
  width = 1;
  /** What may be in sight: wider than the recording where another one stands beside it. */
  bounds: Span;
  private readonly past_: Span[] = [];

  constructor(readonly whole: Span) {
    this.begin = whole.begin;
    this.end = whole.end;
    this.bounds = whole;
  }

  /** What is in sight of the recording: a nanosecond of its end, where nothing is. */
  get recorded(): Span {
    const begin = Math.min(Math.max(this.begin, this.whole.begin), this.whole.end - 1);
    return { begin, end: Math.max(begin + 1, Math.min(this.end, this.whole.end)) };
  }

  get nsPerPixel(): number {
    return (this.end - this.begin) / this.width;
  }

  pixelOf(ns: number): number {
    return (ns - this.begin) / this.nsPerPixel;
  }

  timeOf(pixel: number): number {
    return this.begin + pixel * this.nsPerPixel;
  }

  /** Shows [begin, end), kept within a little more than the bounds. */
  set(begin: number, end: number): void {
    const whole = this.bounds.end - this.bounds.begin;
    const length = Math.min(Math.max(end - begin, SHORTEST), whole * 1.02);
    const middle = (begin + end) / 2;
    const slack = length * 0.5;
    const first = Math.min(
      Math.max(middle - length / 2, this.bounds.begin - slack),
      this.bounds.end + slack - length,
    );
    this.begin = first;
    this.end = first + length;
  }

  /** Zooms by `factor` (below 1: in) around a pixel that keeps its time. */
  zoom(factor: number, pixel: number): void {
    const at = this.timeOf(pixel);
    const length = (this.end - this.begin) * factor;
    const begin = at - (pixel / this.width) * length;
    this.set(begin, begin + length);
  }

  pan(pixels: number): void {
    const by = pixels * this.nsPerPixel;
    this.set(this.begin + by, this.end + by);
  }

  /** Remembers where one is, before a jump. */
  remember(): void {
    const last = this.past_.at(-1);
    if (last && last.begin === this.begin && last.end === this.end) return;
    this.past_.push({ begin: this.begin, end: this.end });
    if (this.past_.length > 50) this.past_.shift();
  }

  back(): Span | undefined {
    return this.past_.pop();
  }
}
