// An opaque canvas for text and lines, drawn anew each time by the processor.
import { cssOf } from './theme';

/** The processor is at it before a graphics card has been asked. */
const FEW_SHAPES: CanvasRenderingContext2DSettings = { willReadFrequently: true, alpha: false };

export class Sheet {
  readonly context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;
  /** Where what was drawn is copied to. */
  private readonly shown: CanvasRenderingContext2D | null = null;
  private width = 1;
  private height = 1;
  private ratio = 1;

  /**
   * `composed`: the processor composes the page, too. Then what was drawn is handed over as pixels, which are a layer of
   * their own; a canvas that the processor draws is painted into the page's layer once more, at twice the price.
   */
  constructor(
    private readonly canvas: HTMLCanvasElement,
    composed: boolean,
  ) {
    if (composed) this.shown = canvas.getContext('2d', { alpha: false });
    this.context = this.shown
      ? new OffscreenCanvas(1, 1).getContext('2d', FEW_SHAPES)!
      : canvas.getContext('2d', FEW_SHAPES)!;
  }

  /** After the canvas was given its size. */
  resize(ratio: number): void {
    this.ratio = ratio;
    ({ width: this.width, height: this.height } = this.canvas);
    if (this.shown) Object.assign(this.context.canvas, { width: this.width, height: this.height });
  }

  clear(ground: number): void {
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.context.fillStyle = cssOf(ground);
    this.context.fillRect(0, 0, this.width, this.height);
  }

  show(): void {
    this.shown?.putImageData(this.context.getImageData(0, 0, this.width, this.height), 0, 0);
  }
}
