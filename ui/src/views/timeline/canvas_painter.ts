// Draws tiles where there is no WebGL2; the same picture, box by box.
import { spanOf, unitOf } from '../../api/tile';
import type { Hatch, Paint } from '../../base/palette';
import type { Painter, Scene, SceneRow, Theme } from './scene';
import type { Viewport } from './viewport';

const css = (colour: number): string => `#${colour.toString(16).padStart(6, '0')}`;

/** Lines of a hatching, drawn into a square that repeats. */
function strokes(context: CanvasRenderingContext2D, hatch: Hatch, size: number): void {
  context.beginPath();
  const line = (x0: number, y0: number, x1: number, y1: number): void => {
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
  };
  if (hatch === 'rising' || hatch === 'cross') line(-1, size + 1, size + 1, -1);
  if (hatch === 'falling' || hatch === 'cross') line(-1, -1, size + 1, size + 1);
  if (hatch === 'level') line(0, 1, size, 1);
  context.stroke();
  if (hatch === 'dots') context.fillRect(0, 0, 2, 2);
}

export class CanvasPainter implements Painter {
  readonly kind = 'canvas2d';
  private readonly fills = new Map<string, CanvasPattern | string>();
  private width = 1;
  private height = 1;
  private ratio = 1;

  constructor(private readonly context: CanvasRenderingContext2D) {}

  resize(width: number, height: number, ratio: number): void {
    [this.width, this.height, this.ratio] = [width, height, ratio];
  }

  forget(): void {}
  end(): void {
    this.fills.clear();
  }

  draw(scene: Scene, viewport: Viewport, theme: Theme, onlyName: number | null): void {
    const { context } = this;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
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
      const left = Math.max(0, viewport.pixelOf(piece.from));
      const right = Math.min(this.width, viewport.pixelOf(piece.to));
      let last = -1;
      for (let at = 0; at < block.boxes; ++at) {
        const x0 = Math.max(left, viewport.pixelOf(start + (block.x0[at] ?? 0) * unit));
        const end = viewport.pixelOf(start + (block.x1[at] ?? 0) * unit);
        const x1 = Math.min(right, end - x0 > 3 ? end - 1 : Math.max(end, x0 + 1 / this.ratio));
        if (x1 <= x0) continue;
        const kind = block.kind[at] ?? 0;
        if (kind !== last) {
          const paint = row.paints[Math.min(kind, row.paints.length - 1)];
          if (paint) context.fillStyle = this.fillOf(paint, theme);
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

  private fillOf(paint: Paint, theme: Theme): CanvasPattern | string {
    if (paint.hatch === 'solid') return css(paint.colour);
    const key = `${paint.colour}/${paint.hatch}/${theme.paper}`;
    let fill = this.fills.get(key);
    if (fill === undefined) {
      const size = paint.hatch === 'dots' || paint.hatch === 'level' ? 4 : 6;
      const square = document.createElement('canvas');
      square.width = square.height = size;
      const inner = square.getContext('2d');
      if (!inner) return css(paint.colour);
      inner.fillStyle = css(theme.paper);
      inner.fillRect(0, 0, size, size);
      inner.globalAlpha = 0.38;
      inner.fillStyle = css(paint.colour);
      inner.fillRect(0, 0, size, size);
      inner.globalAlpha = 1;
      inner.strokeStyle = css(paint.colour);
      inner.lineWidth = 1.5;
      strokes(inner, paint.hatch, size);
      fill = this.context.createPattern(square, 'repeat') ?? css(paint.colour);
      this.fills.set(key, fill);
    }
    return fill;
  }
}
