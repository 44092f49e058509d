// Draws tiles by WebGL2: one buffer per tile, made once; moving and zooming only change uniforms.
// A box is four vertices of one indexed draw, not an instance: small instances leave most of a
// graphics card idle.
import { spanOf, unitOf, type TileBlock } from '../../api/tile';
import type { Tile } from '../../api/tiles';
import { HATCHES, type Paint } from '../../base/palette';
import type { Painter, Scene, SceneRow, Theme } from './scene';
import type { Viewport } from './viewport';

const MOST_PAINTS = 64;
const VERTEX_BYTES = 16;

const VERTEX = `#version 300 es
in float a_x0, a_x1;
in uint a_name, a_lane, a_kind, a_coverage;
uniform vec2 u_size;  // of the canvas, in pixels
uniform float u_y, u_lane,
  u_base,   // unit near the left edge
  u_rest,   // its pixel
  u_scale,  // pixels per unit
  u_pixel,  // a device pixel
  u_last;   // the tile's end in units: what reaches it goes on, and has no gap behind it
flat out uint v_kind, v_name;
void main() {
  float x0 = (a_x0 - u_base) * u_scale + u_rest;
  float x1 = (a_x1 - u_base) * u_scale + u_rest;
  float wide = x1 - x0;
  if (wide > 3.0) { if (a_x1 < u_last) x1 -= u_pixel; } else if (wide < u_pixel) x1 = x0 + u_pixel;
  float room = max(u_lane - (u_lane > 4.0 ? 1.0 : 0.0), u_pixel);
  float tall = max(room * float(a_coverage) / 255.0, u_pixel);
  float bottom = u_y + float(a_lane) * u_lane + room;
  bool right = (gl_VertexID & 1) == 1;
  bool low = (gl_VertexID & 2) == 2;
  vec2 at = vec2(right ? x1 : x0, low ? bottom : bottom - tall);
  gl_Position = vec4(at.x / u_size.x * 2.0 - 1.0, 1.0 - at.y / u_size.y * 2.0, 0.0, 1.0);
  v_kind = a_kind;
  v_name = a_name;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp int;
flat in uint v_kind, v_name;
uniform vec4 u_paints[${MOST_PAINTS}]; // colour, hatching
uniform vec3 u_paper;
uniform int u_only;  // a name that stands out, or -1
uniform float u_ratio, u_vary;
out vec4 colour;
void main() {
  vec4 paint = u_paints[min(v_kind, ${MOST_PAINTS - 1}u)];
  vec3 base = paint.rgb;
  uint hash = v_name * 2654435761u;
  float vary = (float((hash >> 24) & 7u) / 7.0 - 0.5) * u_vary;
  base = clamp(base * (1.0 + vary), 0.0, 1.0);
  vec2 at = floor(gl_FragCoord.xy / u_ratio);
  int hatch = int(paint.a);
  bool line = false;
  if (hatch == 1) line = mod(at.x - at.y, 6.0) < 2.0;
  else if (hatch == 2) line = mod(at.x + at.y, 6.0) < 2.0;
  else if (hatch == 3) line = mod(at.x - at.y, 7.0) < 1.5 || mod(at.x + at.y, 7.0) < 1.5;
  else if (hatch == 4) line = mod(at.y, 4.0) < 1.5;
  else if (hatch == 5) line = mod(at.x, 4.0) < 2.0 && mod(at.y, 4.0) < 2.0;
  if (hatch != 0) base = line ? base : mix(base, u_paper, 0.62);
  if (u_only >= 0 && int(v_name) != u_only) base = mix(base, u_paper, 0.7);
  colour = vec4(base, 1.0);
}`;

interface Uploaded {
  readonly array: WebGLVertexArrayObject;
  readonly buffer: WebGLBuffer;
}

const rgb = (colour: number): readonly [number, number, number] => [
  ((colour >> 16) & 255) / 255,
  ((colour >> 8) & 255) / 255,
  (colour & 255) / 255,
];

function compiled(gl: WebGL2RenderingContext, type: number, source: string): WebGLShader | null {
  const shader = gl.createShader(type);
  if (!shader) return null;
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  return gl.getShaderParameter(shader, gl.COMPILE_STATUS) ? shader : null;
}

function linked(gl: WebGL2RenderingContext): WebGLProgram | null {
  const vertex = compiled(gl, gl.VERTEX_SHADER, VERTEX);
  const fragment = compiled(gl, gl.FRAGMENT_SHADER, FRAGMENT);
  const program = gl.createProgram();
  if (!vertex || !fragment || !program) return null;
  gl.attachShader(program, vertex);
  gl.attachShader(program, fragment);
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/** False where there is no WebGL2, or where the processor computes what a graphics card is for. */
function askForGraphicsCard(): boolean {
  const gl = document.createElement('canvas').getContext('webgl2', {
    failIfMajorPerformanceCaveat: true,
  });
  if (!gl) return false;
  // Chromium tells its software renderer by its name only.
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  const renderer: unknown = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(String(renderer));
}

let known: boolean | undefined;

/** Asked once: the answer takes as long as a graphics process needs to begin. */
export function hasGraphicsCard(): boolean {
  known ??= askForGraphicsCard();
  return known;
}

export class GlPainter implements Painter {
  readonly kind = 'webgl2';
  readonly over = null;
  private readonly uploaded_ = new Map<Tile, Uploaded>();
  private readonly places_: ReadonlyMap<string, WebGLUniformLocation | null>;
  private readonly paints_ = new Map<readonly Paint[], Float32Array>();
  private readonly corners_: WebGLBuffer | null;
  private cornered_ = 0; // boxes that `corners` suffices for
  private width_ = 1;
  private height_ = 1;
  private ratio_ = 1;

  /** Null where the browser has no WebGL2. */
  static make(canvas: HTMLCanvasElement): GlPainter | null {
    const gl = canvas.getContext('webgl2', {
      antialias: false,
      // Opaque: what lies below need not be composed with it.
      alpha: false,
    });
    const program = gl && linked(gl);
    return gl && program ? new GlPainter(gl, program) : null;
  }

  private constructor(
    private readonly gl_: WebGL2RenderingContext,
    private readonly program_: WebGLProgram,
  ) {
    const names =
      'u_base u_rest u_scale u_size u_y u_lane u_pixel u_last u_paints u_paper u_only u_ratio u_vary';
    this.places_ = new Map(
      names.split(' ').map((name) => [name, gl_.getUniformLocation(program_, name)]),
    );
    this.corners_ = gl_.createBuffer();
  }

  resize(width: number, height: number, ratio: number): void {
    [this.width_, this.height_, this.ratio_] = [width, height, ratio];
  }

  show(): void {}

  forget(tile: Tile): void {
    const gone = this.uploaded_.get(tile);
    if (!gone) return;
    this.gl_.deleteVertexArray(gone.array);
    this.gl_.deleteBuffer(gone.buffer);
    this.uploaded_.delete(tile);
  }

  end(): void {
    for (const tile of [...this.uploaded_.keys()]) this.forget(tile);
    this.gl_.getExtension('WEBGL_lose_context')?.loseContext();
  }

  draw(scene: Scene, viewport: Viewport, theme: Theme, onlyName: number | null): void {
    const { gl_: gl } = this;
    const place = (name: string): WebGLUniformLocation | null => this.places_.get(name) ?? null;
    gl.viewport(
      0,
      0,
      Math.round(this.width_ * this.ratio_),
      Math.round(this.height_ * this.ratio_),
    );
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(...rgb(theme.paper), 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.enable(gl.SCISSOR_TEST);
    gl.clearColor(...rgb(theme.raised), 1);
    for (const band of scene.bands) {
      const bottom = Math.round((this.height_ - band.y - band.height) * this.ratio_);
      gl.scissor(0, bottom, this.width_ * this.ratio_, Math.round(band.height * this.ratio_));
      gl.clear(gl.COLOR_BUFFER_BIT);
    }
    gl.useProgram(this.program_);
    gl.uniform2f(place('u_size'), this.width_, this.height_);
    gl.uniform1f(place('u_pixel'), 1 / this.ratio_);
    gl.uniform1f(place('u_ratio'), this.ratio_);
    gl.uniform3f(place('u_paper'), ...rgb(theme.paper));
    for (const row of scene.accounts) this.drawRow_(row, viewport, place, null);
    for (const row of scene.rows) this.drawRow_(row, viewport, place, onlyName);
    gl.bindVertexArray(null);
  }

  private drawRow_(
    row: SceneRow,
    viewport: Viewport,
    place: (name: string) => WebGLUniformLocation | null,
    onlyName: number | null,
  ): void {
    const { gl_: gl } = this;
    gl.uniform4fv(place('u_paints'), this.paintsArray_(row.paints));
    gl.uniform1f(place('u_y'), row.y);
    gl.uniform1f(place('u_lane'), row.row.lane);
    const account = row.row.track.kind === 'accounting';
    gl.uniform1f(place('u_vary'), account ? 0 : 0.3);
    gl.uniform1i(place('u_only'), onlyName ?? -1);
    for (const piece of row.pieces) {
      const { tile } = piece;
      if (!tile.block || tile.block.boxes === 0) continue;
      const unit = unitOf(tile.level);
      const start = tile.index * spanOf(tile.level);
      const base = Math.max(0, Math.floor((viewport.begin - start) / unit));
      const left = Math.max(0, Math.floor(viewport.pixelOf(piece.from) * this.ratio_));
      const right = Math.min(
        this.width_ * this.ratio_,
        Math.ceil(viewport.pixelOf(piece.to) * this.ratio_),
      );
      if (right <= left) continue;
      gl.scissor(left, 0, right - left, Math.round(this.height_ * this.ratio_));
      gl.uniform1f(place('u_base'), base);
      gl.uniform1f(place('u_last'), account ? 0 : spanOf(tile.level) / unit);
      gl.uniform1f(place('u_rest'), viewport.pixelOf(start + base * unit));
      gl.uniform1f(place('u_scale'), unit / viewport.nsPerPixel);
      gl.bindVertexArray(this.upload_(tile, tile.block).array);
      gl.drawElements(gl.TRIANGLES, 6 * tile.block.boxes, gl.UNSIGNED_INT, 0);
    }
  }

  private paintsArray_(paints: readonly Paint[]): Float32Array {
    let array = this.paints_.get(paints);
    if (!array) {
      array = new Float32Array(MOST_PAINTS * 4);
      for (let i = 0; i < MOST_PAINTS; ++i) {
        const paint = paints[Math.min(i, paints.length - 1)];
        if (!paint) continue;
        array.set([...rgb(paint.colour), HATCHES.indexOf(paint.hatch)], i * 4);
      }
      this.paints_.set(paints, array);
    }
    return array;
  }

  private upload_(tile: Tile, block: TileBlock): Uploaded {
    const before = this.uploaded_.get(tile);
    if (before) return before;
    const { gl_: gl } = this;
    const array = gl.createVertexArray();
    const buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.corners_);
    this.provideCorners_(block.boxes);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, verticesOf(block), gl.STATIC_DRAW);
    const attribute = (name: string, type: number, offset: number, real: boolean): void => {
      const at = gl.getAttribLocation(this.program_, name);
      if (at < 0) return;
      gl.enableVertexAttribArray(at);
      if (real) gl.vertexAttribPointer(at, 1, type, false, VERTEX_BYTES, offset);
      else gl.vertexAttribIPointer(at, 1, type, VERTEX_BYTES, offset);
    };
    attribute('a_x0', gl.UNSIGNED_INT, 0, true);
    attribute('a_x1', gl.UNSIGNED_INT, 4, true);
    attribute('a_name', gl.UNSIGNED_INT, 8, false);
    attribute('a_lane', gl.UNSIGNED_SHORT, 12, false);
    attribute('a_kind', gl.UNSIGNED_BYTE, 14, false);
    attribute('a_coverage', gl.UNSIGNED_BYTE, 15, false);
    const made = { array, buffer };
    this.uploaded_.set(tile, made);
    return made;
  }

  /** Of each box two triangles over its four vertices; all tiles share them. */
  private provideCorners_(boxes: number): void {
    if (boxes <= this.cornered_) return;
    this.cornered_ = Math.max(boxes, 2 * this.cornered_);
    const corners = new Uint32Array(6 * this.cornered_);
    for (let box = 0; box < this.cornered_; ++box) {
      const first = 4 * box;
      corners.set([first, first + 1, first + 2, first + 2, first + 1, first + 3], 6 * box);
    }
    this.gl_.bufferData(this.gl_.ELEMENT_ARRAY_BUFFER, corners, this.gl_.STATIC_DRAW);
  }
}

/** What the vertices of a block's boxes know: x0, x1, name, and lane, kind and coverage in one word. */
function verticesOf(block: TileBlock): Uint32Array {
  const words = new Uint32Array((block.boxes * 4 * VERTEX_BYTES) / 4);
  let at = 0;
  for (let box = 0; box < block.boxes; ++box) {
    const x0 = block.x0[box] ?? 0;
    const x1 = block.x1[box] ?? 0;
    const name = block.name[box] ?? 0;
    const rest =
      (block.lane[box] ?? 0) | ((block.kind[box] ?? 0) << 16) | ((block.coverage[box] ?? 0) << 24);
    for (let corner = 0; corner < 4; ++corner) {
      words[at++] = x0;
      words[at++] = x1;
      words[at++] = name;
      words[at++] = rest;
    }
  }
  return words;
}
