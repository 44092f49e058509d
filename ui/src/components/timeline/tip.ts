// What is under the pointer, in a line.
import { durationText } from '../../base/format';
import { paintOf } from '../../base/palette';
import type { Segment } from './account_tile';
import type { Engine } from './engine';
import type { TrackRow } from './layout';

export function segmentAt(engine: Engine, row: TrackRow, x: number): Segment | undefined {
  const { viewport, accounts } = engine;
  return accounts.at(row.track.device ?? -1, viewport.timeOf(x), viewport.nsPerPixel * 2);
}

/** `onGap`: what a click on a gap whose cause is known does. */
export function tipOf(engine: Engine, x: number, y: number, onGap: string): string {
  const hit = engine.hit(x, y);
  if (hit?.row.track.kind === 'accounting') {
    const gap = segmentAt(engine, hit.row, x);
    if (!gap) return '';
    const parts = gap.parts?.map((part) => `${paintOf(part.id).name} ${durationText(part.ns)}`);
    const what = parts ? parts.join(', ') : paintOf(gap.bucket).name;
    const late = gap.cause_slice === null || onGap === '' ? '' : ` · ${onGap}`;
    return `${what} · ${durationText(gap.end_ns - gap.begin_ns)}${late}`;
  }
  if (!hit?.box) return '';
  const { box } = hit;
  const name = engine.names.of(box.name) ?? '…';
  const length = box.end - box.begin;
  if (box.coverage === 255 && box.single) return `${name} · ${durationText(length)}`;
  // Shorter than a bin: its share of the bin is known to a part in 255.
  if (box.single) return `${name} · about ${durationText((length * box.coverage) / 255)}`;
  return `${name} and others · ${Math.round((100 * box.coverage) / 255)} % of ${durationText(length)}`;
}

/** Puts the line beside the pointer; hides it where there is nothing. */
export function showTip(
  element: HTMLElement | null,
  text: string,
  x: number,
  engine: Engine,
): void {
  if (!element) return;
  element.hidden = text === '';
  if (text === '') return;
  element.textContent = text;
  element.style.left = `${Math.min(x + 12, engine.viewport.width - 260)}px`;
}
