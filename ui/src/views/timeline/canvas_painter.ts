// Draws tiles where there is no WebGL2; the same picture, box by box.
import { spanOf, unitOf } from '../../api/tile';
import { Hatching } from './hatching';
import type { Painter, Scene, SceneRow, Theme } from './scene';
import type { Viewport } from './viewport';

export class CanvasPainter implements Painter {
  readonly kind = 'canvas2d';
  private readonly hatching = new Hatching();
  private width = 1;
  private height = 1;
  private ratio = 1;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height, this.ratio] = [width, height, ratio];
  }

  forget(): void {}
  end(): void {}

  draw(scene: Scene, viewport: Viewport, theme: Theme, onlyName: number | null): void {
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    for (const row of scene.accounts) this.drawRow(row, viewport, theme, null);
    for (const row of scene.rows) this.drawRow(row, viewport, theme, onlyName);
  }

  private drawRow(row: SceneRow, viewport: Viewport, theme: Theme, onlyName: number | null): void {
    const { context } = this;
    const tall = Math.max(row.row.lane - (row.row.lane > 4 ? 1 : 0), 1 / this.ratio);
    for (const piece of row.pieces) {
      const { block } = piece.tile;
      if (!block) continue;
      const start = piece.tile.index * spanOf(piece.tile.level);
      const unit = unitOf(piece.tile.level);
      const units = spanOf(piece.tile.level) / unit;
      const left = Math.max(0, viewport.pixelOf(piece.from));
      const right = Math.min(this.width, viewport.pixelOf(piece.to));
      let last = -1;
      for (let at = 0; at < block.boxes; ++at) {
        const end = viewport.pixelOf(start + (block.x1[at] ?? 0) * unit);
        if (end <= left) continue;
        const x0 = Math.max(left, viewport.pixelOf(start + (block.x0[at] ?? 0) * unit));
        // What reaches the tile's end goes on in the next one.
        const gap = row.row.track.kind !== 'accounting' && (block.x1[at] ?? 0) < units ? 1 : 0;
        const x1 = Math.min(right, end - x0 > 3 ? end - gap : Math.max(end, x0 + 1 / this.ratio));
        if (x1 <= x0) continue;
        const kind = block.kind[at] ?? 0;
        if (kind !== last) {
          const paint = row.paints[Math.min(kind, row.paints.length - 1)];
          if (paint) context.fillStyle = this.hatching.of(context, paint, theme);
          last = kind;
        }
        context.globalAlpha = onlyName !== null && block.name[at] !== onlyName ? 0.3 : 1;
        const height = Math.max((tall * (block.coverage[at] ?? 255)) / 255, 1 / this.ratio);
        context.fillRect(
          x0,
          row.y + (block.lane[at] ?? 0) * row.row.lane + tall - height,
          x1 - x0,
          height,
        );
      }
    }
    context.globalAlpha = 1;
  }
}
