// An opaque canvas for text and lines, drawn anew each time by the processor.
import { cssOf } from './theme';

/** The processor is at it before a graphics card has been asked. */
const FEW_SHAPES: CanvasRenderingContext2DSettings = { willReadFrequently: true, alpha: false };

export class Sheet {
  readonly context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;
  /** Where what was drawn is copied to. */
  private readonly shown_: CanvasRenderingContext2D | null = null;
  private width_ = 1;
  private height_ = 1;
  private ratio_ = 1;

  /**
   * `composed`: the processor composes the page, too. Then what was drawn is handed over as pixels, which are a layer of
   * their own; a canvas that the processor draws is painted into the page's layer once more, at twice the price.
   */
  constructor(
    private readonly canvas_: HTMLCanvasElement,
    composed: boolean,
  ) {
    if (composed) this.shown_ = canvas_.getContext('2d', { alpha: false });
    this.context = this.shown_
      ? new OffscreenCanvas(1, 1).getContext('2d', FEW_SHAPES)!
      : canvas_.getContext('2d', FEW_SHAPES)!;
  }

  /** After the canvas was given its size. */
  resize(ratio: number): void {
    this.ratio_ = ratio;
    ({ width: this.width_, height: this.height_ } = this.canvas_);
    if (this.shown_)
      Object.assign(this.context.canvas, { width: this.width_, height: this.height_ });
  }

  clear(ground: number): void {
    this.context.setTransform(this.ratio_, 0, 0, this.ratio_, 0, 0);
    this.context.fillStyle = cssOf(ground);
    this.context.fillRect(0, 0, this.width_, this.height_);
  }

  show(): void {
    this.shown_?.putImageData(this.context.getImageData(0, 0, this.width_, this.height_), 0, 0);
  }
}
