// Names the stretches of accounting lanes that are wide enough; the painter draws them.
import { paintOf } from '../../base/palette';
import type { Segment } from './account_tile';
import type { Context2D } from './overlay';
import type { Layout } from './layout';
import type { Viewport } from './viewport';

const LEAST_LABEL = 40;

export function nameAccounts(
  context: Context2D,
  height: number,
  layout: Layout,
  viewport: Viewport,
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
      if (segment.parts) continue;
      const left = Math.max(0, viewport.pixelOf(segment.begin_ns));
      const wide = Math.min(viewport.width, viewport.pixelOf(segment.end_ns)) - left;
      if (wide < LEAST_LABEL) continue;
      const { name } = paintOf(segment.bucket);
      const text = context.measureText(name).width;
      if (text + 8 > wide) continue;
      context.fillStyle = 'rgba(255,255,255,.88)';
      context.fillRect(left + 2, y + 3, text + 4, row.height - 6);
      context.fillStyle = '#16191d';
      context.fillText(name, left + 4, y + row.height / 2);
    }
  }
}
