// Mouse, wheel, trackpad and touch on the canvas and the minimap.
import { listen } from '../../base/listen';
import type { Engine } from './engine';

export interface Gestures {
  readonly onHover: (x: number, y: number) => void;
  readonly onLeave: () => void;
  readonly onClick: (x: number, y: number) => void;
  readonly onDouble: (x: number, y: number) => void;
  readonly onArea: (x0: number, y0: number, x1: number, y1: number, done: boolean) => void;
}

const CLICK = 4; // pixels that a click may move

interface Finger {
  x: number;
  y: number;
}

export function listenToCanvas(
  canvas: HTMLElement,
  engine: Engine,
  gestures: Gestures,
  signal: AbortSignal,
): void {
  const fingers = new Map<number, Finger>();
  let start: Finger | null = null;
  let panning = false;
  let moved = false;
  const place = (event: MouseEvent): Finger => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const options = { signal };
  listen(
    canvas,
    'wheel',
    (event) => {
      const { x } = place(event);
      const lines = event.deltaMode === 1 ? 20 : 1;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        engine.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY * lines)) * 0.01), x);
      } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        event.preventDefault();
        engine.pan((event.deltaX || event.deltaY) * lines);
      }
    },
    { passive: false, signal },
  );
  listen(
    canvas,
    'pointerdown',
    (event) => {
      if (event.button > 1) return;
      const at = place(event);
      fingers.set(event.pointerId, at);
      canvas.setPointerCapture(event.pointerId);
      start = at;
      moved = false;
      panning = event.shiftKey || event.button === 1 || event.pointerType === 'touch';
    },
    options,
  );
  listen(
    canvas,
    'pointermove',
    (event) => {
      const at = place(event);
      const before = fingers.get(event.pointerId);
      if (!before || !start) {
        gestures.onHover(at.x, at.y);
        return;
      }
      if (Math.abs(at.x - start.x) > CLICK || Math.abs(at.y - start.y) > CLICK) moved = true;
      if (fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
        if (other) {
          const [old, now] = [Math.abs(before.x - other.x), Math.abs(at.x - other.x)];
          if (old > 8 && now > 8) engine.zoom(old / now, (at.x + other.x) / 2);
        }
      } else if (moved && panning) {
        engine.pan(before.x - at.x);
        if (event.pointerType === 'touch') {
          const scroller = canvas.closest('.tl-scroller');
          if (scroller) scroller.scrollTop += before.y - at.y;
        }
      } else if (moved) {
        gestures.onArea(start.x, start.y, at.x, at.y, false);
      }
      fingers.set(event.pointerId, at);
    },
    options,
  );
  const up = (event: PointerEvent): void => {
    const at = place(event);
    const here = fingers.delete(event.pointerId);
    if (!here || !start || fingers.size > 0) return;
    if (!moved) gestures.onClick(at.x, at.y);
    else if (!panning) gestures.onArea(start.x, start.y, at.x, at.y, true);
    start = null;
  };
  listen(canvas, 'pointerup', up, options);
  listen(canvas, 'pointercancel', (event) => fingers.delete(event.pointerId), options);
  listen(canvas, 'pointerleave', () => gestures.onLeave(), options);
  listen(
    canvas,
    'dblclick',
    (event) => {
      const { x, y } = place(event);
      gestures.onDouble(x, y);
    },
    options,
  );
}

/** A drag on the minimap chooses what is shown, a click moves it there. */
export function listenToMinimap(minimap: HTMLElement, engine: Engine, signal: AbortSignal): void {
  let from: number | null = null;
  const options = { signal };
  const timeAt = (event: PointerEvent): number => {
    const box = minimap.getBoundingClientRect();
    const { begin, end } = engine.viewport.whole;
    return begin + ((event.clientX - box.left) / box.width) * (end - begin);
  };
  listen(
    minimap,
    'pointerdown',
    (event) => {
      from = event.clientX;
      minimap.setPointerCapture(event.pointerId);
      minimap.dataset['from'] = String(timeAt(event));
      engine.viewport.remember();
    },
    options,
  );
  listen(
    minimap,
    'pointermove',
    (event) => {
      if (from === null || Math.abs(event.clientX - from) < CLICK) return;
      const [a, b] = [Number(minimap.dataset['from']), timeAt(event)].sort((x, y) => x - y);
      engine.moveTo(a ?? 0, b ?? 0);
    },
    options,
  );
  listen(
    minimap,
    'pointerup',
    (event) => {
      if (from !== null && Math.abs(event.clientX - from) < CLICK) {
        const half = (engine.viewport.end - engine.viewport.begin) / 2;
        const at = timeAt(event);
        engine.show(at - half, at + half, false);
      }
      from = null;
    },
    options,
  );
}
