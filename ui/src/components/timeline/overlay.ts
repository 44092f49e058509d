// What lies above the boxes: labels, curves, steps, the selection, arrows, marks.
import { axisText, tickStep, counterText } from '../../base/format';
import type { Paint } from '../../base/palette';
import { shortened } from '../../base/text';
import type { Mark } from '../../base/view_state';
import type { CounterBin, FlowsAnswer, LinkEnd, StepSpan } from '../../api/types';
import { MERGED } from '../../api/tile';
import type { Names } from '../../api/names';
import type { Layout, TrackRow } from './layout';
import { eachBox, type Scene, type Theme } from './scene';
import { cssOf, inkOn } from './theme';
import type { Viewport } from './viewport';

const LEAST_LABEL = 30;
export type Context2D = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

const FONT = '11px system-ui, sans-serif';
const SELECT = '#d55e00';

/** A filled rectangle. */
function fill(
  context: Context2D,
  colour: string,
  x: number,
  y: number,
  width: number,
  height: number,
  alpha = 1,
): void {
  context.fillStyle = colour;
  context.globalAlpha = alpha;
  context.fillRect(x, y, width, height);
  context.globalAlpha = 1;
}

/** The edge of a rectangle. */
function edge(
  context: Context2D,
  colour: string,
  thick: number,
  x: number,
  y: number,
  width: number,
  height: number,
): void {
  context.strokeStyle = colour;
  context.lineWidth = thick;
  context.strokeRect(x, y, width, height);
}

export interface Picked {
  readonly slice: number;
  readonly track: number;
  readonly lane: number;
  readonly begin: number;
  readonly end: number;
}

export interface OverlayState {
  readonly picked: Picked | null;
  readonly area: { begin: number; end: number; top: number; bottom: number } | null;
  readonly flows: FlowsAnswer | null;
  readonly marks: readonly Mark[];
  readonly search: string;
  readonly critical: ReadonlySet<number> | null;
  readonly steps: readonly StepSpan[];
  readonly pointer: number | null;
}

export function drawOverlay(
  context: Context2D,
  size: { width: number; height: number },
  scene: Scene,
  layout: Layout,
  viewport: Viewport,
  theme: Theme,
  names: Names,
  binsOf: (track: number) => readonly CounterBin[],
  scroll: number,
  state: OverlayState,
): void {
  drawSteps(context, size, viewport, theme, state.steps);
  drawCounters(context, size, layout, viewport, theme, binsOf, scroll);
  drawLabels(context, scene, viewport, names, state);
  drawFlows(context, layout, viewport, scroll, state.flows);
  drawPicked(context, layout, viewport, scroll, state.picked);
  drawArea(context, viewport, scroll, state.area);
  drawMarks(context, size, viewport, state.marks);
  if (state.pointer !== null)
    fill(context, cssOf(theme.ink), Math.round(state.pointer), 0, 1, size.height, 0.25);
}

function drawSteps(
  context: Context2D,
  size: { width: number; height: number },
  viewport: Viewport,
  theme: Theme,
  steps: readonly StepSpan[],
): void {
  const ink = cssOf(theme.ink);
  for (const at of steps.flatMap((step) => [step.begin_ns, step.end_ns])) {
    const x = viewport.pixelOf(at);
    if (x >= 0 && x <= size.width) fill(context, ink, Math.round(x), 0, 1, size.height, 0.28);
  }
}

function drawCounters(
  context: Context2D,
  size: { width: number; height: number },
  layout: Layout,
  viewport: Viewport,
  theme: Theme,
  binsOf: (track: number) => readonly CounterBin[],
  scroll: number,
): void {
  for (const row of layout.rows) {
    if (row.type !== 'track' || row.track.kind !== 'counter') continue;
    const y = row.y - scroll;
    if (y + row.height < 0 || y > size.height) continue;
    const bins = binsOf(row.track.id);
    const most = Math.max(...bins.map((bin) => bin.max), 0);
    if (bins.length === 0 || most <= 0) continue;
    const height = (value: number): number =>
      y + row.height - 2 - ((row.height - 12) * value) / most;
    context.beginPath();
    context.moveTo(viewport.pixelOf(bins[0]?.begin_ns ?? 0), y + row.height - 2);
    bins.forEach((bin, i) => {
      const x = viewport.pixelOf(bin.begin_ns);
      context.lineTo(x, height(bin.max));
      context.lineTo(
        i + 1 < bins.length ? viewport.pixelOf(bins[i + 1]?.begin_ns ?? 0) : size.width,
        height(bin.max),
      );
    });
    context.lineTo(size.width, y + row.height - 2);
    context.closePath();
    context.fillStyle = '#56b4e9';
    context.globalAlpha = 0.45;
    context.fill();
    context.globalAlpha = 1;
    context.strokeStyle = '#0072b2';
    context.lineWidth = 1;
    context.stroke();
    context.font = FONT;
    context.textBaseline = 'top';
    context.fillStyle = cssOf(theme.ink);
    context.fillText(`max ${counterText(most, row.track.unit ?? '')}`, 4, y);
  }
}

interface Label {
  readonly left: number;
  right: number;
  readonly y: number;
  readonly text: string;
  readonly paint: Paint;
}

/** A slice that goes on in the next tile has one label. */
function addLabel(labels: Map<string, Label>, key: string, label: Label): void {
  const before = labels.get(key);
  if (before && label.left <= before.right + 2) before.right = label.right;
  else labels.set(before ? `${key}/${label.left}` : key, label);
}

function drawLabel(context: Context2D, label: Label, height: number): void {
  const { left, right, y, paint } = label;
  const wide = right - left;
  if (wide < LEAST_LABEL) return;
  const text = shortened(label.text, Math.max(3, Math.floor((wide - 8) / 6.2)));
  context.save();
  context.beginPath();
  context.rect(left, y, wide - 2, height);
  context.clip();
  if (paint.hatch !== 'solid') {
    // Hatching under letters is hard to read.
    const behind = context.measureText(text).width + 4;
    fill(context, '#ffffff', left + 2, y + 2, behind, height - 5, 0.85);
  }
  context.fillStyle = paint.hatch === 'solid' ? inkOn(paint.colour) : '#000000';
  context.fillText(text, left + 4, y + height / 2);
  context.restore();
}

function drawLabels(
  context: Context2D,
  scene: Scene,
  viewport: Viewport,
  names: Names,
  state: OverlayState,
): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  const needle = state.search.toLowerCase();
  for (const row of scene.rows) {
    const small = row.row.lane < 11;
    if (small && needle === '' && !state.critical) continue;
    const labels = new Map<string, Label>();
    eachBox(row, viewport.begin, viewport.end, (tile, at, from, to) => {
      const { block } = tile;
      if (!block) return;
      const left = Math.max(0, viewport.pixelOf(from));
      const right = Math.min(viewport.width, viewport.pixelOf(to));
      const lane = block.lane[at] ?? 0;
      const y = row.y + lane * row.row.lane;
      const slice = block.slice[at] ?? MERGED;
      if (state.critical?.has(slice)) {
        const inside = Math.max(1, right - left - 2);
        edge(context, SELECT, 2, left + 1, y + 1, inside, row.row.lane - 3);
      }
      const wide = right - left;
      const labelled = !small && wide >= LEAST_LABEL / 4 && slice !== MERGED;
      const name = labelled || needle !== '' ? names.of(block.name[at] ?? 0) : undefined;
      if (needle !== '' && name?.toLowerCase().includes(needle)) {
        fill(context, SELECT, left, y + row.row.lane - 3, Math.max(2, wide), 2);
      }
      if (!labelled) return;
      const kind = block.kind[at] ?? 0;
      const paint = row.paints[Math.min(kind, row.paints.length - 1)];
      if (!name || !paint) return;
      addLabel(labels, String(slice), { left, right, y, text: name, paint });
    });
    for (const label of labels.values()) drawLabel(context, label, row.row.lane);
  }
}

function rowOf(layout: Layout, track: number): TrackRow | undefined {
  return layout.rows.find((row): row is TrackRow => row.type === 'track' && row.track.id === track);
}

function placeOf(
  end: LinkEnd,
  layout: Layout,
  viewport: Viewport,
  scroll: number,
): { x0: number; x1: number; y: number } | undefined {
  if (typeof end === 'number' || end.track === undefined || end.begin_ns === undefined)
    return undefined;
  const row = rowOf(layout, end.track);
  if (!row) return undefined;
  return {
    x0: viewport.pixelOf(end.begin_ns),
    x1: viewport.pixelOf(end.begin_ns + (end.duration_ns ?? 0)),
    y: row.y - scroll + ((end.lane ?? 0) + 0.5) * row.lane,
  };
}

function drawFlows(
  context: Context2D,
  layout: Layout,
  viewport: Viewport,
  scroll: number,
  flows: FlowsAnswer | null,
): void {
  if (!flows) return;
  context.strokeStyle = SELECT;
  context.fillStyle = SELECT;
  context.lineWidth = 1.5;
  for (const flow of flows.flows) {
    const from = placeOf(flow.from, layout, viewport, scroll);
    const to = placeOf(flow.to, layout, viewport, scroll);
    if (!from || !to) continue;
    const start = Math.min(from.x1, Math.max(from.x0, to.x0));
    const bend = Math.max(20, Math.abs(to.x0 - start) / 2);
    context.beginPath();
    context.moveTo(start, from.y);
    context.bezierCurveTo(start + bend, from.y, to.x0 - bend, to.y, to.x0, to.y);
    context.stroke();
    context.beginPath();
    context.moveTo(to.x0, to.y);
    context.lineTo(to.x0 - 6, to.y - 3);
    context.lineTo(to.x0 - 6, to.y + 3);
    context.fill();
  }
}

function drawPicked(
  context: Context2D,
  layout: Layout,
  viewport: Viewport,
  scroll: number,
  picked: Picked | null,
): void {
  const row = picked && rowOf(layout, picked.track);
  if (!picked || !row) return;
  const x0 = viewport.pixelOf(picked.begin);
  const x1 = viewport.pixelOf(picked.end);
  const y = row.y - scroll + picked.lane * row.lane;
  const wide = Math.max(3, x1 - x0);
  edge(context, '#ffffff', 3, x0 - 1, y - 1, wide + 1, row.lane + 1);
  edge(context, SELECT, 2, x0 - 1, y - 1, wide + 1, row.lane + 1);
}

function drawArea(
  context: Context2D,
  viewport: Viewport,
  scroll: number,
  area: OverlayState['area'],
): void {
  if (!area) return;
  const x0 = viewport.pixelOf(area.begin);
  const x1 = viewport.pixelOf(area.end);
  const top = area.top - scroll;
  const bottom = area.bottom - scroll;
  fill(context, SELECT, x0, top, x1 - x0, bottom - top, 0.1);
  context.setLineDash([4, 3]);
  edge(context, SELECT, 1, Math.round(x0) + 0.5, top + 0.5, Math.round(x1 - x0), bottom - top);
  context.setLineDash([]);
}

function drawMarks(
  context: Context2D,
  size: { width: number; height: number },
  viewport: Viewport,
  marks: readonly Mark[],
): void {
  context.font = FONT;
  context.textBaseline = 'top';
  for (const mark of marks) {
    const x = Math.round(viewport.pixelOf(mark.at));
    if (x < 0 || x > size.width) continue;
    fill(context, '#0072b2', x, 0, 2, size.height);
    fill(context, '#0072b2', x, 0, context.measureText(mark.label).width + 6, 14);
    context.fillStyle = '#ffffff';
    context.fillText(mark.label, x + 3, 2);
  }
}

export function drawRuler(
  context: Context2D,
  size: { width: number; height: number },
  viewport: Viewport,
  theme: Theme,
  steps: readonly StepSpan[],
): void {
  context.font = FONT;
  context.textBaseline = 'middle';
  const step = tickStep(viewport.nsPerPixel * 110);
  const ink = cssOf(theme.ink);
  context.fillStyle = ink;
  for (let at = Math.ceil(viewport.begin / step) * step; at <= viewport.end; at += step) {
    const x = Math.round(viewport.pixelOf(at));
    fill(context, ink, x, size.height - 6, 1, 6, 0.4);
    context.fillText(axisText(at, step), x + 4, size.height - 9);
  }
  for (const each of steps) {
    const x0 = viewport.pixelOf(each.begin_ns);
    const x1 = viewport.pixelOf(each.end_ns);
    if (x1 < 0 || x0 > size.width) continue;
    context.globalAlpha = each.counted ? 1 : 0.5;
    context.fillRect(Math.round(x0), 0, 1, 14);
    const label = `step ${each.number}`;
    const begin = Math.max(2, x0 + 4);
    const room = Math.min(x1, size.width) - begin;
    if (room > 36 && room > context.measureText(label).width) context.fillText(label, begin, 8);
    context.globalAlpha = 1;
  }
}

export function drawMinimap(
  context: Context2D,
  size: { width: number; height: number },
  viewport: Viewport,
  theme: Theme,
  steps: readonly StepSpan[],
  density: readonly number[],
): void {
  const { begin, end } = viewport.whole;
  const x = (ns: number): number => ((ns - begin) / Math.max(1, end - begin)) * size.width;
  const longest = Math.max(1, ...steps.map((step) => step.end_ns - step.begin_ns));
  for (const step of steps) {
    const tall = (size.height - 4) * ((step.end_ns - step.begin_ns) / longest);
    const colour = step.counted ? '#56b4e9' : cssOf(theme.line);
    const wide = x(step.end_ns) - x(step.begin_ns);
    fill(context, colour, x(step.begin_ns), size.height - tall, Math.max(1, wide - 1), tall);
  }
  const most = Math.max(1, ...density);
  density.forEach((count, i) => {
    if (count === 0) return;
    const tall = Math.max(2, (size.height - 2) * (count / most));
    fill(
      context,
      SELECT,
      (i / density.length) * size.width,
      size.height - tall,
      Math.max(1, size.width / density.length),
      tall,
    );
  });
  const left = Math.max(0, x(viewport.begin));
  const right = Math.min(size.width, Math.max(left + 3, x(viewport.end)));
  const paper = cssOf(theme.paper);
  fill(context, paper, 0, 0, left, size.height, 0.6);
  fill(context, paper, right, 0, size.width - right, size.height, 0.6);
  const inside = Math.max(1, right - left - 2);
  edge(context, cssOf(theme.ink), 2, left + 1, 1, inside, size.height - 2);
}
