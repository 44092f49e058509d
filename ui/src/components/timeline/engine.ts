// Runs the canvases of the timeline: what is in sight, what is fetched, and a frame when something changed.
import { atEnd, listen } from '../../base/listen';
import { coarsestLevel, levelFor, MERGED } from '../../api/tile';
import { Names } from '../../api/names';
import { chunksOf, Tiles } from '../../api/tiles';
import type { TraceClient } from '../../api/client';
import type { FlowsAnswer, SessionInfo, StepSpan, TracksAnswer } from '../../api/types';
import { ALL_PAINTS, greyed, paintOf, type Paint } from '../../base/palette';
import type { Mark } from '../../base/view_state';
import { isHarmed } from '../harm';
import { Accounts } from './accounts';
import { Counters } from './counters';
import { GlPainter, hasGraphicsCard } from './gl_painter';
import { nameAccounts } from './name_accounts';
import { layOut, rowAt, type Layout, type Openness, type TrackRow } from './layout';
import { drawMinimap, drawOverlay, drawRuler, type Picked } from './overlay';
import { PixelPainter } from './pixel_painter';
import {
  boxAt,
  boxOf,
  eachBox,
  sceneOf,
  type Box,
  type Painter,
  type Scene,
  type Theme,
} from './scene';
import { Sheet } from './sheet';
import { readTheme } from './theme';
import { Viewport, type Span } from './viewport';

/** Text and lines, drawn anew each time: the processor is at it before a graphics card has been asked. */
const FEW_SHAPES: CanvasRenderingContext2DSettings = { willReadFrequently: true };

/** Whose timeline it is, and until when it is shown. */
export interface EngineContext {
  readonly client: TraceClient;
  readonly session: SessionInfo;
  readonly signal: AbortSignal;
  /** Of two recordings, the second. */
  readonly other?: boolean;
}

export interface Canvases {
  readonly boxes: HTMLCanvasElement;
  readonly overlay: HTMLCanvasElement;
  readonly ruler: HTMLCanvasElement;
  readonly minimap: HTMLCanvasElement;
  readonly scroller: HTMLElement;
}

export interface Shown {
  picked: Picked | null;
  flows: FlowsAnswer | null;
  marks: readonly Mark[];
  search: string;
  density: readonly number[];
  critical: ReadonlySet<number> | null;
  area: { begin: number; end: number; top: number; bottom: number } | null;
  onlyName: number | null;
  pointer: number | null;
}

/** Frames' times of the last second, for those who ask in the console: `fathomFrames`. */
const FRAMES_KEPT = 120;

export class Engine {
  readonly viewport: Viewport;
  readonly names: Names;
  private readonly recorded_: Span;
  readonly shown: Shown = {
    picked: null,
    flows: null,
    marks: [],
    search: '',
    density: [],
    critical: null,
    area: null,
    onlyName: null,
    pointer: null,
  };
  layout: Layout;
  scene: Scene = { rows: [], accounts: [], bands: [], level: 0, coarse: true };
  readonly frames: number[] = [];
  private readonly tiles_: Tiles;
  readonly accounts: Accounts;
  private readonly counters_: Counters;
  private readonly painter_: Painter;
  private readonly ruler_: Sheet;
  private readonly minimap_: Sheet;
  private paints_: readonly Paint[] = [];
  private accountPaints_ = this.paints_;
  private theme_: Theme = readTheme();
  private frame_ = 0;
  private ended_ = false;
  private animation_ = 0;
  private width_ = 1;
  private height_ = 1;
  onMove: () => void = () => {};
  onScene: () => void = () => {};
  /** All that is in sight was drawn. */
  onRest: () => void = () => {};

  constructor(
    context: EngineContext,
    private readonly canvases_: Canvases,
    private readonly answer_: TracksAnswer,
    openness: Openness,
    private steps: readonly StepSpan[],
  ) {
    const range = context.session.range ?? { begin_ns: 0, end_ns: 1 };
    // Telemetry may begin before the recording does; the timeline is that of the recording.
    const begin = Math.max(0, range.begin_ns);
    this.recorded_ = { begin: range.begin_ns, end: range.end_ns };
    this.viewport = new Viewport({ begin, end: Math.max(begin + 1, range.end_ns) });
    const redraw = (): void => this.invalidate();
    this.names = new Names(context.client, context.signal, redraw);
    this.counters_ = new Counters(context.client, redraw);
    this.accounts = new Accounts(context.client, redraw, (tile) => this.painter_.forget(tile));
    const drawn = answer_.groups
      .flatMap((group) => group.tracks)
      .filter((track) => track.kind !== 'counter' && track.kind !== 'accounting');
    this.tiles_ = new Tiles(
      context.client,
      context.session.digest ?? '0',
      chunksOf(drawn),
      coarsestLevel(range.end_ns),
      redraw,
    );
    const asked = new URLSearchParams(location.search).get('painter');
    const graphics = asked ? asked === 'webgl2' : hasGraphicsCard();
    const gl = graphics ? GlPainter.make(canvases_.boxes) : null;
    this.painter_ = gl ?? new PixelPainter(canvases_.boxes);
    this.ruler_ = new Sheet(canvases_.ruler, !gl);
    this.minimap_ = new Sheet(canvases_.minimap, !gl);
    this.tiles_.onDrop = (tile) => this.painter_.forget(tile);
    this.layout = layOut(answer_.groups, openness);
    canvases_.boxes.dataset['painter'] = this.painter_.kind;
    const watch = new ResizeObserver(() => this.resize_());
    watch.observe(canvases_.scroller);
    const classes = (answer_.classes ?? []).map(paintOf);
    const rethemed = (): void => {
      this.theme_ = readTheme();
      const shown = (paints: readonly Paint[], number: string): readonly Paint[] =>
        isHarmed(number, context.other) ? greyed(paints) : paints;
      this.paints_ = shown(classes, 'timeline.total_ns');
      this.accountPaints_ = shown(ALL_PAINTS, 'timeline.account_ns');
      this.invalidate();
    };
    rethemed();
    const { signal } = context;
    listen(window, 'fathom-theme', rethemed, { signal });
    listen(matchMedia('(prefers-color-scheme: dark)'), 'change', rethemed, { signal });
    listen(canvases_.scroller, 'scroll', () => this.moved_(), { passive: true });
    atEnd(signal, () => {
      watch.disconnect();
      // A frame would ask for what is in sight once more.
      this.ended_ = true;
      cancelAnimationFrame(this.frame_);
      cancelAnimationFrame(this.animation_);
      this.tiles_.end();
      this.counters_.end();
      this.accounts.end();
      this.painter_.end();
    });
    this.resize_();
  }

  setOpenness(openness: Openness): void {
    this.layout = layOut(this.answer_.groups, openness);
    this.invalidate();
  }

  /** Steps are known later than the tracks where a recording was just read. */
  setSteps(steps: readonly StepSpan[]): void {
    this.steps = steps;
    this.invalidate();
  }

  get scroll(): number {
    return this.canvases_.scroller.scrollTop;
  }

  get painterKind(): string {
    return this.painter_.kind;
  }

  /** Hits along all that was recorded, as those along what the timeline shows. */
  setDensity(density: readonly number[]): void {
    const { begin, end } = this.viewport.whole;
    const length = this.recorded_.end - this.recorded_.begin;
    const shown = new Array<number>(density.length).fill(0);
    density.forEach((count, i) => {
      const at = this.recorded_.begin + ((i + 0.5) * length) / density.length;
      const bin = Math.floor(((at - begin) / (end - begin)) * shown.length);
      if (bin >= 0 && bin < shown.length) shown[bin] = (shown[bin] ?? 0) + count;
    });
    this.shown.density = shown;
    this.invalidate();
  }

  /** A frame, once, as soon as the browser draws. */
  invalidate(): void {
    if (this.frame_ === 0 && !this.ended_) this.frame_ = requestAnimationFrame(() => this.draw_());
  }

  /** Moves to [begin, end), in a moment where motion is welcome. */
  show(begin: number, end: number, remember = true): void {
    if (remember) this.viewport.remember();
    cancelAnimationFrame(this.animation_);
    const from = { begin: this.viewport.begin, end: this.viewport.end };
    const near = (end - begin) / (from.end - from.begin);
    if (matchMedia('(prefers-reduced-motion: reduce)').matches || near < 1e-4 || near > 1e4) {
      this.moveTo(begin, end);
      return;
    }
    const started = performance.now();
    const step = (now: number): void => {
      const part = Math.min(1, (now - started) / 140);
      const ease = 1 - (1 - part) ** 3;
      this.moveTo(from.begin + (begin - from.begin) * ease, from.end + (end - from.end) * ease);
      if (part < 1) this.animation_ = requestAnimationFrame(step);
    };
    this.animation_ = requestAnimationFrame(step);
  }

  moveTo(begin: number, end: number): void {
    this.viewport.set(begin, end);
    this.moved_();
  }

  private moved_(): void {
    this.invalidate();
    this.onMove();
  }

  zoom(factor: number, pixel: number): void {
    cancelAnimationFrame(this.animation_);
    this.viewport.zoom(factor, pixel);
    this.moved_();
  }

  pan(pixels: number): void {
    cancelAnimationFrame(this.animation_);
    this.viewport.pan(pixels);
    this.moved_();
  }

  /** What W, S, A and D do: zoom around a pixel, and move. */
  keys(pixel: () => number): Readonly<Record<string, () => void>> {
    return {
      KeyW: () => this.zoom(0.7, pixel()),
      KeyS: () => this.zoom(1 / 0.7, pixel()),
      KeyA: () => this.pan(-0.15 * this.viewport.width),
      KeyD: () => this.pan(0.15 * this.viewport.width),
    };
  }

  back(): void {
    const before = this.viewport.back();
    if (before) this.show(before.begin, before.end, false);
  }

  /** The box under a point of the canvas, and its row. */
  hit(x: number, y: number): { box: Box | undefined; row: TrackRow } | undefined {
    const at = rowAt(this.layout, y + this.scroll);
    if (!at) return undefined;
    const row = this.scene.rows.find((each) => each.row === at.row);
    const box =
      row &&
      boxAt(row, Math.max(0, at.lane), this.viewport.timeOf(x), this.viewport.nsPerPixel * 2);
    return { box, row: at.row };
  }

  /** Single slices in sight, the longest first. */
  inSight(most: number): { box: Box; row: TrackRow }[] {
    const found: { box: Box; row: TrackRow }[] = [];
    for (const row of this.scene.rows) {
      eachBox(row, this.viewport.begin, this.viewport.end, (tile, at) => {
        if (tile.block?.coverage[at] === 255 && tile.block.slice[at] !== MERGED)
          found.push({ box: boxOf(tile, at), row: row.row });
      });
    }
    found.sort((a, b) => b.box.end - b.box.begin - (a.box.end - a.box.begin));
    const seen = new Set<number>();
    return found.filter(({ box }) => !seen.has(box.slice) && seen.add(box.slice)).slice(0, most);
  }

  /** The single slice before (-1) or after (1) another in its lane, or the one above or below it. */
  neighbour(picked: Picked, along: number, lanes: number): number | undefined {
    const row = this.scene.rows.find((each) => each.row.track.id === picked.track);
    if (!row) return undefined;
    const lane = picked.lane + lanes;
    const middle = (picked.begin + picked.end) / 2;
    let best: number | undefined;
    let nearest = Infinity;
    for (const piece of row.pieces) {
      const { block } = piece.tile;
      if (!block) continue;
      for (let at = 0; at < block.boxes; ++at) {
        const box = boxOf(piece.tile, at);
        if (!box.single || box.lane !== lane || box.slice === picked.slice) continue;
        let distance: number;
        if (lanes !== 0) distance = Math.max(0, box.begin - middle, middle - box.end);
        else if (along > 0) distance = box.begin - picked.begin;
        else distance = picked.begin - box.begin;
        if (distance < 0 || (lanes === 0 && distance === 0) || distance >= nearest) continue;
        nearest = distance;
        best = box.slice;
      }
    }
    return best;
  }

  /** Scrolls so that a track's lane is in sight. */
  reveal(track: number, lane: number): void {
    const row = this.layout.rows.find(
      (each): each is TrackRow => each.type === 'track' && each.track.id === track,
    );
    if (!row) return;
    const y = row.y + lane * row.lane;
    const { scroller } = this.canvases_;
    if (y < scroller.scrollTop + 8 || y + row.lane > scroller.scrollTop + this.height_ - 8) {
      scroller.scrollTop = Math.max(0, y - this.height_ / 3);
    }
  }

  private resize_(): void {
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { scroller } = this.canvases_;
    const paper = this.canvases_.ruler.parentElement;
    this.width_ = Math.max(50, paper?.clientWidth ?? scroller.clientWidth);
    this.height_ = Math.max(50, scroller.clientHeight);
    const { boxes, overlay, ruler, minimap } = this.canvases_;
    const sizes = [
      [boxes, this.height_],
      [overlay, this.height_],
      [ruler, 30],
      [minimap, 36],
    ] as const;
    for (const [canvas, height] of sizes) {
      canvas.width = Math.round(this.width_ * ratio);
      canvas.height = Math.round(height * ratio);
      canvas.style.width = `${this.width_}px`;
      canvas.style.height = `${height}px`;
    }
    this.viewport.width = this.width_;
    this.painter_.resize(this.width_, this.height_, ratio);
    this.ruler_.resize(ratio);
    this.minimap_.resize(ratio);
    this.invalidate();
  }

  private draw_(): void {
    this.frame_ = 0;
    const started = performance.now();
    const ratio = Math.min(devicePixelRatio || 1, 2);
    const { viewport, scroll } = this;
    const level = levelFor(viewport.nsPerPixel, coarsestLevel(viewport.whole.end));
    const accounted = this.layout.rows.flatMap((row) =>
      row.type === 'track' && row.track.kind === 'accounting' ? [row.track.device ?? -1] : [],
    );
    // Before the scene is made, which shows the lane that is wanted now.
    this.accounts.want([...new Set(accounted)], viewport);
    this.scene = sceneOf(
      this.layout,
      this.tiles_,
      viewport,
      level,
      scroll,
      this.height_,
      (kind) => (kind === 'accounting' ? this.accountPaints_ : this.paints_),
      (device) => this.accounts.tileOf(device),
    );
    const tracks = new Set(this.scene.rows.map((row) => row.row.track.id));
    const { begin, end } = viewport.recorded;
    this.tiles_.want(tracks, level, begin, end);
    const counters = this.layout.rows
      .filter(
        (row): row is TrackRow =>
          row.type === 'track' &&
          row.track.kind === 'counter' &&
          row.y + row.height > scroll &&
          row.y < scroll + this.height_,
      )
      .map((row) => row.track.id);
    if (counters.length > 0) this.counters_.want(counters, viewport);
    this.painter_.draw(this.scene, viewport, this.theme_, this.shown.onlyName);
    const size = { width: this.width_, height: this.height_ };
    const overlay = this.painter_.over ?? this.canvases_.overlay.getContext('2d', FEW_SHAPES);
    if (overlay) {
      overlay.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (!this.painter_.over) overlay.clearRect(0, 0, this.width_, this.height_);
      drawOverlay(
        overlay,
        size,
        this.scene,
        this.layout,
        viewport,
        this.theme_,
        this.names,
        (track) => this.counters_.binsOf(track),
        scroll,
        {
          ...this.shown,
          steps: this.steps,
        },
      );
      nameAccounts(
        overlay,
        this.height_,
        this.layout,
        viewport,
        (device) => this.accounts.segmentsOf(device),
        scroll,
      );
    }
    this.painter_.show();
    this.ruler_.clear(this.theme_.paper);
    drawRuler(this.ruler_.context, { ...size, height: 30 }, viewport, this.theme_, this.steps);
    this.ruler_.show();
    this.minimap_.clear(this.theme_.raised);
    drawMinimap(
      this.minimap_.context,
      { ...size, height: 36 },
      viewport,
      this.theme_,
      this.steps,
      this.shown.density,
    );
    this.minimap_.show();
    this.frames.push(performance.now() - started);
    if (this.frames.length > FRAMES_KEPT) this.frames.shift();
    // For tests and for the eye: exact is a picture without a coarser tile.
    const waits = this.tiles_.waiting || this.accounts.waiting;
    this.canvases_.boxes.dataset['exact'] = String(!this.scene.coarse && !waits);
    if (!waits) this.onRest();
    this.onScene();
  }
}
