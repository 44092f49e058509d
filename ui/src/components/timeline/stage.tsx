// Where a timeline stands: minimap, ruler, headings and the canvases that an engine draws on.
import type { ComponentChildren, RefObject } from 'preact';
import { useRef } from 'preact/hooks';
import type { Canvases, Engine } from './engine';
import { Headings } from './headings';
import type { Layout } from './layout';
import { showTip, tipOf } from './tip';

export interface Stage {
  readonly boxes: RefObject<HTMLCanvasElement | null>;
  readonly overlay: RefObject<HTMLCanvasElement | null>;
  readonly ruler: RefObject<HTMLCanvasElement | null>;
  readonly minimap: RefObject<HTMLCanvasElement | null>;
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly tip: RefObject<HTMLDivElement | null>;
}

export const useStage = (): Stage => ({
  boxes: useRef<HTMLCanvasElement>(null),
  overlay: useRef<HTMLCanvasElement>(null),
  ruler: useRef<HTMLCanvasElement>(null),
  minimap: useRef<HTMLCanvasElement>(null),
  scroller: useRef<HTMLDivElement>(null),
  tip: useRef<HTMLDivElement>(null),
});

/** Null as long as one of them is not there. */
export function canvasesOf(stage: Stage): Canvases | null {
  const boxes = stage.boxes.current;
  const overlay = stage.overlay.current;
  const ruler = stage.ruler.current;
  const minimap = stage.minimap.current;
  const scroller = stage.scroller.current;
  return boxes && overlay && ruler && minimap && scroller
    ? { boxes, overlay, ruler, minimap, scroller }
    : null;
}

/** Says what lies under the pointer. `onGap`: what a click on a gap does. */
export function tellTip(stage: Stage, engine: Engine, x: number, y: number, onGap: string): void {
  const tip = stage.tip.current;
  showTip(tip, tipOf(engine, x, y, onGap), x, engine);
  if (tip) tip.style.top = `${y + 16}px`;
}

export function hideTip(stage: Stage): void {
  if (stage.tip.current) stage.tip.current.hidden = true;
}

export function StageFrame(props: {
  stage: Stage;
  layout: Layout;
  class?: string;
  corner: ComponentChildren;
  label: string;
  onGroup: (key: string) => void;
  onFold: (track: number) => void;
  onPin: (track: number) => void;
}) {
  const { stage, layout } = props;
  return (
    <div class={`tl-frame ${props.class ?? ''}`}>
      <div class="tl-top">
        <div class="tl-corner">{props.corner}</div>
        <div class="tl-rulers">
          <canvas ref={stage.minimap} class="tl-minimap" aria-hidden="true" />
          <canvas ref={stage.ruler} class="tl-ruler" aria-hidden="true" />
        </div>
      </div>
      <div
        class="tl-scroller"
        ref={stage.scroller}
        tabIndex={0}
        role="application"
        aria-label={props.label}
      >
        <div class="tl-space" style={{ height: `${layout.height}px` }}>
          <Headings
            layout={layout}
            scroller={stage.scroller}
            beside={props.class !== undefined}
            onGroup={props.onGroup}
            onFold={props.onFold}
            onPin={props.onPin}
          />
          <div class="tl-sticky">
            <canvas ref={stage.boxes} class="tl-boxes" />
            <canvas ref={stage.overlay} class="tl-overlay" />
            <div ref={stage.tip} class="tl-tip" hidden />
          </div>
        </div>
      </div>
      <div class="tl-ring" />
    </div>
  );
}
