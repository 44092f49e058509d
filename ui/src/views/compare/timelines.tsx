// Both timelines, one under the other: as many nanoseconds to a pixel, a step of each begins at the same place, and they
// move together.
import { atEnd } from '../../base/listen';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import type { TraceClient } from '../../api/client';
import type { SessionInfo, StepSpan, TracksAnswer } from '../../api/types';
import { Failed, Loading } from '../../components/notice';
import { Engine } from '../../components/timeline/engine';
import { listenToCanvas, listenToMinimap } from '../../components/timeline/gestures';
import { devicesFirst, layOut, type Openness } from '../../components/timeline/layout';
import {
  canvasesOf,
  hideTip,
  StageFrame,
  tellTip,
  useStage,
} from '../../components/timeline/stage';
import { useAnswer } from '../../components/use_answer';
import type { ViewContext } from '../view';
import { boundsBeside } from './beside';

export interface Recording {
  readonly client: TraceClient;
  readonly session: SessionInfo;
  readonly steps: readonly StepSpan[]; // those that count
}

/** A slice that was clicked at. */
interface Chosen {
  readonly side: number;
  readonly slice: number;
  readonly name: string;
  readonly length: number;
}

const WORDS = ['base', 'new'] as const;
/** Of the length of the longer step, before and behind it. */
const MARGIN = 0.04;

const toggled = <T,>(set: ReadonlySet<T>, one: T): ReadonlySet<T> => {
  const next = new Set(set);
  if (!next.delete(one)) next.add(one);
  return next;
};

/** The canvases of one of them. */
function Pane(props: {
  recording: Recording;
  side: number;
  answer: TracksAnswer;
  signal: AbortSignal;
  onEngine: (engine: Engine) => void;
  onChosen: (chosen: Chosen | null) => void;
}) {
  const { recording, side } = props;
  const stage = useStage();
  const [engine, setEngine] = useState<Engine | null>(null);
  const [openness, setOpenness] = useState<Openness>({
    closed: new Set(),
    turned: new Set(),
    pins: [],
  });
  const tracks = useMemo(
    () => ({ ...props.answer, groups: devicesFirst(props.answer.groups) }),
    [props.answer],
  );
  const layout = useMemo(() => layOut(tracks.groups, openness), [tracks, openness]);
  useEffect(() => {
    const canvases = canvasesOf(stage);
    if (!canvases) return undefined;
    // Another recording takes its place with other canvases; the view may end before.
    const end = new AbortController();
    atEnd(props.signal, () => end.abort());
    const made = new Engine(
      {
        client: recording.client,
        session: recording.session,
        signal: end.signal,
        other: side === 1,
      },
      canvases,
      tracks,
      openness,
      recording.session.steps ?? [],
    );
    listenToMinimap(canvases.minimap, made, end.signal);
    listenToCanvas(
      canvases.overlay,
      made,
      {
        onHover: (x, y) => tellTip(stage, made, x, y, ''),
        onLeave: () => hideTip(stage),
        onClick: (x, y) => {
          const box = made.hit(x, y)?.box;
          const row = made.hit(x, y)?.row;
          if (!box?.single || !row) {
            made.shown.picked = null;
            props.onChosen(null);
          } else {
            const { begin, end: until, slice, lane } = box;
            made.shown.picked = { slice, track: row.track.id, lane, begin, end: until };
            const name = made.names.of(box.name) ?? '';
            props.onChosen({ side, slice, name, length: until - begin });
          }
          made.invalidate();
        },
        onDouble: (x, y) => {
          const box = made.hit(x, y)?.box;
          if (box) made.show(box.begin - (box.end - box.begin), 2 * box.end - box.begin);
        },
        onArea: (x0, _y0, x1, _y1, done) => {
          const begin = made.viewport.timeOf(Math.min(x0, x1));
          const until = made.viewport.timeOf(Math.max(x0, x1));
          made.shown.area = done ? null : { begin, end: until, top: 0, bottom: 1e6 };
          if (done) made.show(begin, until);
          made.invalidate();
        },
      },
      end.signal,
    );
    setEngine(made);
    props.onEngine(made);
    return () => end.abort();
  }, []);
  useEffect(() => engine?.setOpenness(openness), [engine, openness]);
  const word = WORDS[side] ?? '';
  return (
    <StageFrame
      stage={stage}
      layout={layout}
      class="tl-beside"
      corner={<b>{word}</b>}
      label={`Timeline of ${word}: W S zoom, A D move both; the slices are in the view Timeline, as a table, too`}
      onGroup={(key) => setOpenness({ ...openness, closed: toggled(openness.closed, key) })}
      onFold={(track) => setOpenness({ ...openness, turned: toggled(openness.turned, track) })}
      onPin={(track) =>
        setOpenness({ ...openness, pins: [...toggled(new Set(openness.pins), track)] })
      }
    />
  );
}

const lengthOf = (step: StepSpan): number => step.end_ns - step.begin_ns;

function StepChoice(props: {
  word: string;
  steps: readonly StepSpan[];
  at: number;
  onChoose: (at: number) => void;
}) {
  return (
    <label>
      {props.word}{' '}
      <select
        aria-label={`Step of ${props.word}`}
        value={props.at}
        onChange={(event) => props.onChoose(Number(event.currentTarget.value))}
      >
        {props.steps.map((step, i) => (
          <option key={step.number} value={i}>
            step {step.number}, {durationText(lengthOf(step))}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Whatever moves one of them moves the other by as much. */
function linked(pair: readonly [Engine, Engine], chosen: readonly [StepSpan, StepSpan]): void {
  const [base, next] = pair;
  const shift = chosen[1].begin_ns - chosen[0].begin_ns;
  const bounds = boundsBeside(base.viewport.whole, next.viewport.whole, shift);
  base.viewport.bounds = bounds.base;
  next.viewport.bounds = bounds.next;
  const follow = (from: Engine, to: Engine, by: number): void => {
    from.onMove = () => {
      to.viewport.set(from.viewport.begin + by, from.viewport.end + by);
      to.invalidate();
    };
  };
  follow(base, next, shift);
  follow(next, base, -shift);
  // For tests in the browser.
  (globalThis as { fathomBeside?: object }).fathomBeside = { engines: pair, steps: chosen };
  const most = Math.max(lengthOf(chosen[0]), lengthOf(chosen[1]), 1);
  base.moveTo(chosen[0].begin_ns - MARGIN * most, chosen[0].begin_ns + (1 + MARGIN) * most);
}

function Linked(props: {
  context: ViewContext;
  pair: readonly [Recording, Recording];
  answers: readonly [TracksAnswer, TracksAnswer];
}) {
  const { context, pair } = props;
  const [base, next] = pair;
  const [at, setAt] = useState<readonly [number, number]>([0, 0]);
  const [engines, setEngines] = useState<readonly (Engine | undefined)[]>([]);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const steps = [base.steps[at[0]], next.steps[at[1]]] as const;
  useEffect(() => {
    const [first, second] = engines;
    const [one, other] = steps;
    if (first && second && one && other) linked([first, second], [one, other]);
  }, [engines, at]);
  const by = (count: number): void => setAt([at[0] + count, at[1] + count]);
  const last = [base.steps.length - 1, next.steps.length - 1] as const;
  const press = (event: KeyboardEvent): void => {
    const engine = engines[0];
    if (!engine || event.ctrlKey || event.metaKey || event.altKey) return;
    const action = engine.keys(() => engine.viewport.width / 2)[event.code];
    if (!action || (event.target as HTMLElement).tagName === 'SELECT') return;
    event.preventDefault();
    action();
  };
  return (
    <div class="beside" onKeyDown={press}>
      <div class="toolbar">
        <button disabled={at[0] === 0 || at[1] === 0} onClick={() => by(-1)}>
          Step before
        </button>
        <button disabled={at[0] >= last[0] || at[1] >= last[1]} onClick={() => by(1)}>
          Next step
        </button>
        <StepChoice
          word="base"
          steps={base.steps}
          at={at[0]}
          onChoose={(step) => setAt([step, at[1]])}
        />
        <StepChoice
          word="new"
          steps={next.steps}
          at={at[1]}
          onChoose={(step) => setAt([at[0], step])}
        />
        <span class="grow" />
        <span class="soft" aria-live="polite">
          {chosen
            ? `${WORDS[chosen.side] ?? ''}: ${chosen.name}, ${durationText(chosen.length)}`
            : 'Drag over a stretch, or Ctrl and wheel, to zoom both'}
        </span>
        {chosen && (
          <button
            onClick={() => {
              context.setScope({ input: chosen.side === 0 ? '' : String(chosen.side) });
              context.showSlice(chosen.slice);
            }}
          >
            In the timeline
          </button>
        )}
      </div>
      {pair.map((recording, side) => (
        <Pane
          key={side}
          recording={recording}
          side={side}
          answer={props.answers[side] as TracksAnswer}
          signal={context.signal}
          onEngine={(engine) =>
            setEngines((before) => (side === 0 ? [engine, before[1]] : [before[0], engine]))
          }
          onChosen={(one) => {
            const other = engines[1 - side];
            if (other) {
              other.shown.picked = null;
              other.invalidate();
            }
            setChosen(one);
          }}
        />
      ))}
    </div>
  );
}

export function Timelines(props: { context: ViewContext; base: Recording; next: Recording }) {
  const base = useAnswer<TracksAnswer>(props.base.client, 'api/tracks');
  const next = useAnswer<TracksAnswer>(props.next.client, 'api/tracks');
  if (base.state === 'failed') return <Failed what="No timeline of base" of={base} />;
  if (next.state === 'failed') return <Failed what="No timeline of new" of={next} />;
  if (base.state !== 'ready' || next.state !== 'ready')
    return <Loading what="Laying out both timelines" />;
  return (
    <Linked
      context={props.context}
      pair={[props.base, props.next]}
      answers={[base.value, next.value]}
    />
  );
}
