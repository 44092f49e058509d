// The keys of the timeline, by their place on the keyboard, so that they hold on any layout.
import { idOf, type LinkEnd, type SliceAnswer } from '../../api/types';
import type { ViewContext } from '../view';
import type { Engine } from '../../components/timeline/engine';

export interface KeyTargets {
  readonly engine: Engine | null;
  readonly context: ViewContext;
  readonly current: SliceAnswer | null;
  readonly pick: (slice: number | null) => void;
  readonly focusSearch: () => void;
  readonly togglePin: (track: number) => void;
  readonly toggleCritical: () => void;
}

function linked(slice: SliceAnswer | null, ...kinds: readonly string[]): number | undefined {
  for (const kind of kinds) {
    const end = slice?.links?.[kind];
    const first = (Array.isArray(end) ? end[0] : end) as LinkEnd | null | undefined;
    if (first !== null && first !== undefined) return idOf(first);
  }
  return undefined;
}

/** Typing, and widgets that use arrows themselves, are left alone. */
function isElsewhere(event: KeyboardEvent): boolean {
  const { target } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  return event.code.startsWith('Arrow') && target.closest('.drawer') !== null;
}

export function keyHandler(targets: KeyTargets): (event: KeyboardEvent) => void {
  const { engine, context, current, pick } = targets;
  const go = (slice: number | undefined): void => {
    if (slice !== undefined) pick(slice);
  };
  const step = (along: number, lanes: number): void => {
    if (!engine) return;
    const { picked } = engine.shown;
    if (picked) go(engine.neighbour(picked, along, lanes));
    else go(engine.inSight(1)[0]?.box.slice);
  };
  const fit = (): void => {
    if (!engine) return;
    const area = context.state.value.area;
    const { picked } = engine.shown;
    const { whole } = engine.viewport;
    if (area) engine.show(area.begin, area.end);
    else if (picked) {
      const around = Math.max(20, (picked.end - picked.begin) * 0.3);
      engine.show(picked.begin - around, picked.end + around);
    } else engine.show(whole.begin, whole.end);
  };
  /** `asked`: with a text of one's own. One that is there is changed, or goes. */
  const mark = (asked: boolean): void => {
    if (!engine) return;
    const at = Math.round(
      engine.shown.picked?.begin ??
        engine.viewport.timeOf(engine.shown.pointer ?? engine.viewport.width / 2),
    );
    const { marks } = context.state.value;
    const here = marks.find((each) => Math.abs(each.at - at) < 6 * engine.viewport.nsPerPixel);
    const label = asked
      ? prompt('Note at this time', here?.label)
      : here
        ? ''
        : String(1 + Math.max(0, ...marks.map((each) => Number(each.label) || 0)));
    if (label === null) return;
    const others = marks.filter((each) => each !== here);
    context.go({ marks: label === '' ? others : [...others, { at: here?.at ?? at, label }] });
  };
  const area = (): void => {
    const picked = engine?.shown.picked;
    if (picked) {
      const selected = { begin: picked.begin, end: picked.end, tracks: [] };
      context.go({ area: selected, slice: null });
    }
  };
  const actions: Readonly<Record<string, () => void>> = {
    ...engine?.keys(() => engine.shown.pointer ?? engine.viewport.width / 2),
    ArrowLeft: () => step(-1, 0),
    ArrowRight: () => step(1, 0),
    ArrowUp: () => step(0, -1),
    ArrowDown: () => step(0, 1),
    BracketLeft: () => go(linked(current, 'launch', 'forward', 'operator')),
    BracketRight: () => go(linked(current, 'kernels', 'backward')),
    Comma: () => go(linked(current, 'previous')),
    Period: () => go(linked(current, 'next')),
    KeyF: fit,
    Backspace: () => engine?.back(),
    KeyM: () => mark(false),
    KeyN: () => mark(true),
    KeyR: area,
    KeyP: () => {
      if (engine?.shown.picked) targets.togglePin(engine.shown.picked.track);
    },
    KeyC: targets.toggleCritical,
    Escape: () => context.go({ slice: null, area: null }),
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isElsewhere(event)) return;
    if (document.querySelector('dialog[open]')) return;
    const action = event.key === '/' ? targets.focusSearch : actions[event.code];
    if (!action) return;
    event.preventDefault();
    action();
  };
}
