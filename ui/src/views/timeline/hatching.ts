// Hatchings as patterns of a canvas, made once per colour and theme.
import type { Hatch, Paint } from '../../base/palette';
import type { Theme } from './scene';
import { cssOf } from './theme';

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

export class Hatching {
  private readonly fills = new Map<string, CanvasPattern | string>();

  of(context: CanvasRenderingContext2D, paint: Paint, theme: Theme): CanvasPattern | string {
    if (paint.hatch === 'solid') return cssOf(paint.colour);
    const key = `${paint.colour}/${paint.hatch}/${theme.paper}`;
    let fill = this.fills.get(key);
    if (fill === undefined) {
      fill = this.make(context, paint, theme) ?? cssOf(paint.colour);
      this.fills.set(key, fill);
    }
    return fill;
  }

  private make(
    context: CanvasRenderingContext2D,
    paint: Paint,
    theme: Theme,
  ): CanvasPattern | null {
    const size = paint.hatch === 'dots' || paint.hatch === 'level' ? 4 : 6;
    const square = document.createElement('canvas');
    square.width = square.height = size;
    const inner = square.getContext('2d');
    if (!inner) return null;
    inner.fillStyle = cssOf(theme.paper);
    inner.fillRect(0, 0, size, size);
    inner.globalAlpha = 0.38;
    inner.fillStyle = cssOf(paint.colour);
    inner.fillRect(0, 0, size, size);
    inner.globalAlpha = 1;
    inner.strokeStyle = cssOf(paint.colour);
    inner.lineWidth = 2;
    strokes(inner, paint.hatch, size);
    return context.createPattern(square, 'repeat');
  }
}
