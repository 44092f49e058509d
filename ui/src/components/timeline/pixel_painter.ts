// Draws tiles into an array of pixels: where the processor computes the graphics, writing them is many times
// cheaper than triangles are. The same picture as gl_painter's, box by box.
import { spanOf, unitOf } from '../../api/tile';
import type { Hatch, Paint } from '../../base/palette';
import type { Painter, Scene, SceneRow, Theme } from './scene';
import type { Context2D } from './overlay';
import { Sheet } from './sheet';
import type { Viewport } from './viewport';

/** Of names: neighbours of one kind differ a little. */
const SHADES = 8;
/** Hatchings repeat after so many pixels, a multiple of each one's own period. */
const PERIOD = 84;
const OPAQUE = 0xff000000;

/** Is a pixel on a line of the hatching? y counts from the bottom. */
const LINES: Readonly<Record<Exclude<Hatch, 'solid'>, (x: number, y: number) => boolean>> = {
  rising: (x, y) => (x - y + PERIOD) % 6 < 2,
  falling: (x, y) => (x + y) % 6 < 2,
  cross: (x, y) => (x - y + PERIOD) % 7 < 1.5 || (x + y) % 7 < 1.5,
  level: (_, y) => y % 4 < 1.5,
  dots: (x, y) => x % 4 < 2 && y % 4 < 2,
};

interface Ink {
  readonly lines: Uint8Array | null;
  /** By shade: on a line of the hatching, and between them. */
  readonly line: Uint32Array;
  readonly ground: Uint32Array;
}

const masks = new Map<Hatch, Uint8Array>();

function maskOf(hatch: Hatch): Uint8Array | null {
  if (hatch === 'solid') return null;
  let mask = masks.get(hatch);
  if (!mask) {
    const on = LINES[hatch];
    mask = Uint8Array.from({ length: PERIOD * PERIOD }, (_, i) =>
      Number(on(i % PERIOD, Math.floor(i / PERIOD))),
    );
    masks.set(hatch, mask);
  }
  return mask;
}

const channels = (colour: number): readonly number[] =>
  [16, 8, 0].map((shift) => (colour >> shift) & 255);

/** Bytes of a pixel in their order in memory, as one little-endian word. */
const wordOf = (rgb: readonly number[]): number =>
  rgb.reduce((word, part, i) => word | (Math.round(Math.min(255, part)) << (8 * i)), OPAQUE) >>> 0;

const mixed = (rgb: readonly number[], paper: readonly number[], share: number): number[] =>
  rgb.map((part, i) => part * (1 - share) + (paper[i] ?? 0) * share);

/** The colours of a paint as gl_painter's shader mixes them. */
function inkOf(paint: Paint, paper: number, vary: number, dim: boolean): Ink {
  const behind = channels(paper);
  const fade = (rgb: readonly number[]): readonly number[] => (dim ? mixed(rgb, behind, 0.7) : rgb);
  const line = new Uint32Array(SHADES);
  const ground = new Uint32Array(SHADES);
  for (let shade = 0; shade < SHADES; ++shade) {
    const base = channels(paint.colour).map((part) =>
      Math.min(255, part * (1 + (shade / (SHADES - 1) - 0.5) * vary)),
    );
    line[shade] = wordOf(fade(base));
    ground[shade] = wordOf(fade(mixed(base, behind, 0.62)));
  }
  return { lines: maskOf(paint.hatch), line, ground };
}

export class PixelPainter implements Painter {
  readonly kind = 'pixels';
  private image_ = new ImageData(1, 1);
  private pixels_ = new Uint32Array(1);
  private readonly inks_ = new Map<string, { of: readonly Paint[]; inks: readonly Ink[] }>();
  private ratio_ = 1;

  private readonly sheet_: Sheet;

  constructor(canvas: HTMLCanvasElement) {
    this.sheet_ = new Sheet(canvas, true);
  }

  get over(): Context2D {
    return this.sheet_.context;
  }

  resize(width: number, height: number, ratio: number): void {
    this.ratio_ = ratio;
    this.sheet_.resize(ratio);
    this.image_ = new ImageData(Math.round(width * ratio), Math.round(height * ratio));
    this.pixels_ = new Uint32Array(this.image_.data.buffer);
  }

  show(): void {
    this.sheet_.show();
  }

  forget(): void {}
  end(): void {}

  draw(scene: Scene, viewport: Viewport, theme: Theme, onlyName: number | null): void {
    const { pixels_: pixels, ratio_: ratio } = this;
    const { width, height } = this.image_;
    pixels.fill(wordOf(channels(theme.paper)));
    for (const band of scene.bands) {
      const [top, bottom] = [band.y, band.y + band.height].map((y) =>
        Math.min(height, Math.max(0, Math.round(y * ratio))),
      ) as [number, number];
      pixels.fill(wordOf(channels(theme.raised)), top * width, bottom * width);
    }
    for (const row of scene.accounts) this.drawRow_(row, viewport, theme, null);
    for (const row of scene.rows) this.drawRow_(row, viewport, theme, onlyName);
    this.over.putImageData(this.image_, 0, 0);
  }

  private inksOf_(row: SceneRow, theme: Theme, dim: boolean): readonly Ink[] {
    const account = row.row.track.kind === 'accounting';
    const key = `${row.row.track.kind}/${theme.paper}/${dim}`;
    let kept = this.inks_.get(key);
    if (kept?.of !== row.paints) {
      const inks = row.paints.map((paint) => inkOf(paint, theme.paper, account ? 0 : 0.3, dim));
      this.inks_.set(key, (kept = { of: row.paints, inks }));
    }
    return kept.inks;
  }

  private drawRow_(row: SceneRow, viewport: Viewport, theme: Theme, onlyName: number | null): void {
    const { ratio_: ratio } = this;
    const inks = this.inksOf_(row, theme, false);
    const faded = onlyName === null ? inks : this.inksOf_(row, theme, true);
    const account = row.row.track.kind === 'accounting';
    const lane = row.row.lane * ratio;
    const room = Math.max(lane - (row.row.lane > 4 ? ratio : 0), 1);
    const scale = ratio / viewport.nsPerPixel;
    for (const piece of row.pieces) {
      const { block } = piece.tile;
      if (!block) continue;
      const unit = unitOf(piece.tile.level);
      const start = (piece.tile.index * spanOf(piece.tile.level) - viewport.begin) * scale;
      // What reaches the tile's end goes on in the next one.
      const units = account ? 0 : spanOf(piece.tile.level) / unit;
      const left = Math.max(0, Math.floor(viewport.pixelOf(piece.from) * ratio));
      const right = Math.min(this.image_.width, Math.ceil(viewport.pixelOf(piece.to) * ratio));
      const { x0, x1, name, kind, coverage } = block;
      const wide = unit * scale;
      for (let at = 0; at < block.boxes; ++at) {
        const from = start + x0[at]! * wide;
        let to = start + x1[at]! * wide;
        if (from >= right) continue;
        if (to - from > 3) {
          if (x1[at]! < units) to -= 1;
        } else if (to - from < 1) {
          to = from + 1;
        }
        // A pixel is the box's where its middle is in it.
        const first = Math.max(left, Math.ceil(from - 0.5));
        const last = Math.min(right, Math.ceil(to - 0.5));
        if (last <= first) continue;
        const bottom = row.y * ratio + block.lane[at]! * lane + room;
        const top = bottom - Math.max((room * coverage[at]!) / 255, 1);
        const ink = (name[at] === onlyName ? inks : faded)[Math.min(kind[at]!, inks.length - 1)];
        // The top bits of a product modulo 2^32, as in the shader.
        const shade = (Math.imul(name[at]!, 2654435761) >>> 24) & (SHADES - 1);
        if (ink) this.fill_(ink, shade, first, last, Math.ceil(top - 0.5), Math.ceil(bottom - 0.5));
      }
    }
  }

  private fill_(ink: Ink, shade: number, x0: number, x1: number, y0: number, y1: number): void {
    const { pixels_: pixels, ratio_: ratio } = this;
    const { width, height } = this.image_;
    const line = ink.line[shade]!;
    const end = Math.min(y1, height);
    for (let y = Math.max(0, y0); y < end; ++y) {
      const begin = y * width;
      if (!ink.lines) {
        for (let at = begin + x0; at < begin + x1; ++at) pixels[at] = line;
        continue;
      }
      const ground = ink.ground[shade]!;
      const mask = (Math.floor((height - 1 - y) / ratio) % PERIOD) * PERIOD;
      for (let x = x0; x < x1; ++x) {
        const on = ink.lines[mask + (Math.floor(x / ratio) % PERIOD)];
        pixels[begin + x] = on ? line : ground;
      }
    }
  }
}
