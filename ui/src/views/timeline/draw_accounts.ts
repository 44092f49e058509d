// Draws accounting lanes: each gap in its cause's pattern; merged stretches as shares, one above the other.
import { paintOf } from '../../base/palette';
import type { Segment } from './accounts';
import type { Hatching } from './hatching';
import type { Layout } from './layout';
import type { Theme } from './scene';
import type { Viewport } from './viewport';

const LEAST_LABEL = 40;

export function drawAccounts(
  context: CanvasRenderingContext2D,
  height: number,
  layout: Layout,
  viewport: Viewport,
  theme: Theme,
  hatching: Hatching,
  segmentsOf: (device: number) => readonly Segment[],
  scroll: number,
): void {
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  for (const row of layout.rows) {
    if (row.type !== 'track' || row.track.kind !== 'accounting') continue;
    const y = row.y - scroll;
    if (y + row.height < 0 || y > height) continue;
    for (const segment of segmentsOf(row.track.device ?? -1)) {
      const left = Math.max(0, viewport.pixelOf(segment.begin_ns));
      const right = Math.min(viewport.width, viewport.pixelOf(segment.end_ns));
      if (right <= 0 || left >= viewport.width) continue;
      const wide = Math.max(right - left, 0.5);
      if (segment.parts) {
        drawParts(context, segment, theme, hatching, left, y, wide, row.height);
        continue;
      }
      const paint = paintOf(segment.bucket);
      context.fillStyle = hatching.of(context, paint, theme);
      context.fillRect(left, y, wide, row.height);
      if (wide < LEAST_LABEL) continue;
      const text = context.measureText(paint.name).width;
      if (text + 8 > wide) continue;
      context.fillStyle = 'rgba(255,255,255,.88)';
      context.fillRect(left + 2, y + 3, text + 4, row.height - 6);
      context.fillStyle = '#16191d';
      context.fillText(paint.name, left + 4, y + row.height / 2);
    }
  }
}

function drawParts(
  context: CanvasRenderingContext2D,
  segment: Segment,
  theme: Theme,
  hatching: Hatching,
  left: number,
  top: number,
  wide: number,
  tall: number,
): void {
  const whole = Math.max(1, segment.end_ns - segment.begin_ns);
  let bottom = top + tall;
  for (const part of segment.parts ?? []) {
    const height = (tall * part.ns) / whole;
    context.fillStyle = hatching.of(context, paintOf(part.id), theme);
    context.fillRect(left, bottom - height, wide, height);
    bottom -= height;
  }
}
