// The timeline: minimap, ruler, tracks, and a drawer for what is selected.
import { atEnd, listen } from '../../base/listen';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import { windowOf } from '../../base/scope';
import type { ViewState } from '../../base/view_state';
import { saidOfPath, type CriticalPathAnswer } from '../../api/critical_path';
import { flowsOf } from '../../api/flows';
import { AS_IT_IS, pathOf, tableCommand, TIME_SCOPE } from '../../api/urls';
import { idOf, type SliceAnswer, type TracksAnswer } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CopyCommand } from '../../components/copy_button';
import { Empty, Failed, Loading } from '../../components/notice';
import { useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import { selectedTime } from '../selected_time';
import type { View, ViewContext } from '../view';
import type { Segment } from '../../components/timeline/account_tile';
import { AreaDrawer } from './area_drawer';
import { Engine } from '../../components/timeline/engine';
import { listenToCanvas, listenToMinimap } from '../../components/timeline/gestures';
import { keyHandler } from './keys';
import {
  devicesFirst,
  layOut,
  tracksBetween,
  type Openness,
} from '../../components/timeline/layout';
import {
  canvasesOf,
  hideTip,
  StageFrame,
  tellTip,
  useStage,
} from '../../components/timeline/stage';
import { segmentAt } from '../../components/timeline/tip';
import { MarkList } from './mark_list';
import { SearchBox } from './search_box';
import { SightTable } from './sight_table';
import { SliceDrawer } from './slice_drawer';
import { Aside, Quiet, Soft } from '../../components/plain';

const REST_MS = 200;

const toggled = <T,>(list: readonly T[], one: T): readonly T[] =>
  list.includes(one) ? list.filter((each) => each !== one) : [...list, one];

/** The canvases and the engine behind them, for as long as the tracks are the same. */
function Board(props: { context: ViewContext; answer: TracksAnswer }) {
  const { context } = props;
  const tracks = useMemo(
    () => ({ ...props.answer, groups: devicesFirst(props.answer.groups) }),
    [props.answer],
  );
  const state = useStore(context.state);
  const stage = useStage();
  const search = useRef<HTMLInputElement>(null);
  const [engine, setEngine] = useState<Engine | null>(null);
  const [flowsLeft, setFlowsLeft] = useState(0);
  const critical = useRef(new AbortController());
  const [twin, setTwin] = useState(false);
  const [only, setOnly] = useState(false);
  const [said, setSaid] = useState('');
  const [unlit, setUnlit] = useState('');
  const [span, setSpan] = useState('');
  // A link that says what is in sight is not moved to its slice.
  const linked = useRef(state.visible === null && state.top === null ? null : state.slice);
  const came = useRef(state.top);
  const scrolled = useRef<number | null>(null);
  const openness: Openness = useMemo(
    () => ({ closed: new Set(state.closed), turned: new Set(state.turned), pins: state.pins }),
    [state.closed, state.turned, state.pins],
  );
  const layout = useMemo(() => layOut(tracks.groups, openness), [tracks, openness]);
  const slice = useAnswer<SliceAnswer>(
    context.client,
    state.slice === null ? null : pathOf('api/slice', [['id', state.slice]]),
  );
  const [drawn, setDrawn] = useState(false);
  // What a damaged capture harms: the tracks come first.
  useDiagnosis(context.client, null, drawn && context.session.steps ? undefined : 'none');
  const pick = (id: number | null): void => context.go({ slice: id, area: null });

  // Before the frame is painted, which would hold up what the engine asks for.
  useLayoutEffect(() => {
    const canvases = canvasesOf(stage);
    if (!canvases) return;
    const made = new Engine(context, canvases, tracks, openness, context.session.steps ?? []);
    made.onRest = () => setDrawn(true);
    let timer = 0;
    made.onMove = () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        // Whole nanoseconds, as a link has them, so that a link shows the very same picture.
        made.viewport.set(Math.round(made.viewport.begin), Math.round(made.viewport.end));
        made.invalidate();
        const { begin, end, whole } = made.viewport;
        const all = begin <= whole.begin && end >= whole.end;
        const top = (scrolled.current = Math.round(made.scroll));
        context.go({ visible: all ? null : [begin, end], top });
        setSpan(`${durationText(end - begin)} in sight`);
      }, REST_MS) as unknown as number;
    };
    atEnd(context.signal, () => clearTimeout(timer));
    const { visible } = context.state.value;
    const selected = selectedTime(context);
    if (visible) made.moveTo(visible[0], visible[1]);
    else if (selected) made.moveTo(selected[0], selected[1]);
    else made.moveTo(made.viewport.whole.begin, made.viewport.whole.end);
    setEngine(made);
    // For measurements and tests in the browser.
    (globalThis as { fathomTimeline?: Engine }).fathomTimeline = made;
    listenToMinimap(canvases.minimap, made, context.signal);
    listenToCanvas(
      canvases.overlay,
      made,
      {
        onHover: (x, y) => {
          made.shown.pointer = x;
          made.invalidate();
          tellTip(stage, made, x, y, 'click: who was late');
        },
        onLeave: () => {
          made.shown.pointer = null;
          hideTip(stage);
          made.invalidate();
        },
        onClick: (x, y) => {
          canvases.scroller.focus({ preventScroll: true });
          const hit = made.hit(x, y);
          if (hit?.row.track.kind === 'accounting') {
            const gap = segmentAt(made, hit.row, x);
            if (gap) context.go(causeOf(gap));
          } else {
            pick(hit?.box?.single ? hit.box.slice : null);
          }
        },
        onDouble: (x, y) => {
          const hit = made.hit(x, y);
          if (!hit?.box) return;
          const around = (hit.box.end - hit.box.begin) * 0.3;
          made.show(hit.box.begin - around, hit.box.end + around);
        },
        onArea: (x0, y0, x1, y1, done) => {
          const begin = Math.round(
            Math.max(made.viewport.whole.begin, made.viewport.timeOf(Math.min(x0, x1))),
          );
          const end = Math.round(
            Math.min(made.viewport.whole.end, made.viewport.timeOf(Math.max(x0, x1))),
          );
          const [top, bottom] = [Math.min(y0, y1) + made.scroll, Math.max(y0, y1) + made.scroll];
          made.shown.area = { begin, end, top, bottom };
          made.invalidate();
          if (done && end > begin) {
            const chosen = tracksBetween(made.layout, top, bottom);
            context.go({ area: { begin, end, tracks: chosen }, slice: null });
          }
        },
      },
      context.signal,
    );
  }, []);

  useEffect(() => engine?.setOpenness(openness), [engine, openness]);
  // Steps are known later than tracks: the timeline stays as it is and gets them.
  const { steps } = context.session;
  useEffect(() => {
    if (!engine || !steps) return;
    engine.setSteps(steps);
    const selected = selectedTime(context);
    if (selected && context.state.value.visible === null) engine.moveTo(selected[0], selected[1]);
  }, [engine, steps]);
  // What comes from a link or from another view, is shown.
  useEffect(() => {
    if (!engine || !state.visible) return;
    const { begin, end } = engine.viewport;
    const [from, to] = state.visible;
    if (Math.abs(begin - from) + Math.abs(end - to) > (end - begin) * 1e-6 + 2)
      engine.show(from, to);
  }, [engine, state.visible]);
  useEffect(() => {
    if (state.top === null || state.top === scrolled.current) return;
    scrolled.current = state.top;
    stage.scroller.current?.scrollTo(0, state.top);
  }, [engine, state.top]);
  useEffect(() => {
    if (!engine) return;
    Object.assign(engine.shown, { marks: state.marks, search: state.search });
    if (!state.area) engine.shown.area = null;
    else if (!engine.shown.area) {
      const rows = engine.layout.rows.filter(
        (row) => row.type === 'track' && state.area?.tracks.includes(row.track.id),
      );
      const top = Math.min(...rows.map((row) => row.y));
      const bottom = Math.max(...rows.map((row) => row.y + row.height));
      if (rows.length > 0)
        engine.shown.area = { begin: state.area.begin, end: state.area.end, top, bottom };
    }
    engine.invalidate();
  }, [engine, state.marks, state.search, state.area]);
  useEffect(() => {
    if (!engine) return undefined;
    const answer =
      state.slice !== null && slice.state === 'ready' && slice.value.id === state.slice
        ? slice.value
        : null;
    if (state.slice === null) {
      Object.assign(engine.shown, { picked: null, flows: null, onlyName: null });
      setOnly(false);
      engine.invalidate();
      return undefined;
    }
    if (!answer || answer.track === undefined) return undefined;
    const end = answer.begin_ns + answer.duration_ns;
    engine.shown.picked = {
      slice: answer.id,
      track: answer.track,
      lane: answer.lane ?? 0,
      begin: answer.begin_ns,
      end,
    };
    setSaid(
      `${answer.name}, ${durationText(answer.duration_ns)}, at ${durationText(answer.begin_ns)}`,
    );
    unfold(answer.track);
    const { viewport } = engine;
    const inSight = end >= viewport.begin && answer.begin_ns <= viewport.end;
    const tiny = answer.duration_ns < viewport.nsPerPixel;
    const there = linked.current === answer.id;
    if (!there && (!inSight || tiny)) {
      const around = Math.max(answer.duration_ns * 3, 2000);
      engine.show(answer.begin_ns - around, end + around);
    }
    linked.current = null;
    if (!there || came.current === null) engine.reveal(answer.track, answer.lane ?? 0);
    engine.invalidate();
    const abort = new AbortController();
    void flowsOf(context.client, answer, abort.signal).then((flows) => {
      if (abort.signal.aborted) return;
      engine.shown.flows = flows;
      setFlowsLeft(flows?.left_off ?? 0);
      engine.invalidate();
    });
    return () => abort.abort();
  }, [engine, slice, state.slice]);

  /** Lanes of a folded track are too thin to see the slice that was chosen. */
  const unfold = (track: number): void => {
    const row = engine?.layout.rows.find(
      (each) => each.type === 'track' && each.track.id === track,
    );
    if (row?.type === 'track' && row.folded) context.go({ turned: toggled(state.turned, track) });
    if (!row) context.go({ closed: [] });
  };
  const togglePin = (track: number): void => context.go({ pins: toggled(state.pins, track) });
  const showCritical = async (lit: boolean): Promise<void> => {
    if (!engine) return;
    critical.current.abort();
    const { signal } = (critical.current = new AbortController());
    atEnd(context.signal, () => critical.current.abort());
    if (!lit) {
      engine.shown.critical = null;
      setUnlit('');
    } else {
      const path = pathOf('api/critical-path', [
        ['begin', Math.max(0, Math.floor(engine.viewport.begin))],
        ['end', Math.ceil(Math.min(engine.viewport.end, engine.viewport.whole.end))],
      ]);
      const answer = await context.client.json<CriticalPathAnswer>(path, signal);
      if (signal.aborted) return;
      engine.shown.critical = answer.ok ? new Set(answer.value.slices.map(idOf)) : null;
      const text = answer.ok ? saidOfPath(answer.value) : answer.error.message;
      setSaid(text);
      setUnlit(answer.ok && answer.value.left_off === 0 ? '' : text);
      if (!answer.ok) context.go({ critical: false });
    }
    engine.invalidate();
  };
  const toggleCritical = (): void => context.go({ critical: !state.critical });
  // Of what is in sight when it is asked for: a link that names steps is there once they are known.
  const placed = steps !== undefined || state.visible !== null || state.scope.steps === '';
  useEffect(() => {
    if (!placed) return;
    if (state.critical || engine?.shown.critical) void showCritical(state.critical);
    // One that is still on its way is not wanted any more.
    else critical.current.abort();
  }, [engine, state.critical, placed]);
  const current = slice.state === 'ready' && state.slice === slice.value.id ? slice.value : null;
  const keys = keyHandler({
    engine,
    context,
    current,
    pick,
    focusSearch: () => search.current?.focus(),
    togglePin,
    toggleCritical,
  });
  useEffect(() => listen(window, 'keydown', keys));
  const dimOthers = (): void => {
    if (!engine || !current) return;
    const picked = engine.inSight(100000).find(({ box }) => box.slice === current.id);
    engine.shown.onlyName = only || !picked ? null : picked.box.name;
    setOnly(engine.shown.onlyName !== null);
    engine.invalidate();
  };
  return (
    <div class="timeline">
      <div class="toolbar" role="group" aria-label="Timeline">
        <SearchBox
          context={context}
          query={state.search}
          inputRef={search}
          onPick={pick}
          onDensity={(density) => {
            engine?.setDensity(density);
          }}
        />
        <span class="grow" />
        <Aside>{span}</Aside>
        <Quiet onClick={() => engine?.show(engine.viewport.whole.begin, engine.viewport.whole.end)}>
          Show all
        </Quiet>
        <Quiet aria-pressed={state.critical} onClick={toggleCritical}>
          Critical path
        </Quiet>
        <MarkList
          marks={state.marks}
          context={context}
          onShow={(at) => {
            const half = engine ? (engine.viewport.end - engine.viewport.begin) / 2 : 0;
            engine?.show(at - half, at + half);
          }}
        />
        <Quiet aria-pressed={twin} onClick={() => setTwin(!twin)}>
          Slices as a table
        </Quiet>
        <CopyCommand
          text={() =>
            tableCommand(
              'accounting',
              AS_IT_IS,
              {
                ...state.scope,
                window: engine
                  ? windowOf(
                      engine.viewport.begin - context.origin,
                      engine.viewport.end - context.origin,
                    )
                  : state.scope.window,
              },
              context.session.input,
            )
          }
        />
      </div>
      <Beyond scope={state.scope} known={TIME_SCOPE} />
      {unlit !== '' && <Soft>{unlit}</Soft>}
      <p class="hidden" aria-live="polite">
        {said}
      </p>
      <div class="tl-body">
        <StageFrame
          stage={stage}
          layout={layout}
          corner={
            <span class="soft" aria-hidden="true">
              whole
              <br />
              time
            </span>
          }
          label="Timeline: W S zoom, A D move, arrows choose slices, ? lists all keys. The same slices are under Slices as a table."
          onGroup={(key) => context.go({ closed: toggled(state.closed, key) })}
          onFold={(track) => context.go({ turned: toggled(state.turned, track) })}
          onPin={togglePin}
        />
        {twin && engine ? (
          <SightTable engine={engine} onPick={pick} onEnd={() => setTwin(false)} />
        ) : state.slice !== null ? (
          <SliceDrawer
            loaded={slice}
            flowsLeftOff={flowsLeft}
            context={context}
            onPick={pick}
            onEnd={() => pick(null)}
            onOnly={current ? dimOthers : null}
            only={only}
          />
        ) : (
          state.area && (
            <AreaDrawer
              area={state.area}
              context={context}
              onEnd={() => context.go({ area: null })}
            />
          )
        )}
      </div>
    </div>
  );
}

/** Of a gap: the slice that was late; where none is known, the stretch itself. */
function causeOf(gap: Segment): Partial<ViewState> {
  if (gap.cause_slice !== null) return { slice: idOf(gap.cause_slice), area: null };
  return { area: { begin: gap.begin_ns, end: gap.end_ns, tracks: [] }, slice: null };
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const loaded = useAnswer<TracksAnswer>(context.client, 'api/tracks');
  if (loaded.state === 'failed') return <Failed what="No timeline" of={loaded} />;
  if (loaded.state === 'loading') return <Loading what="Laying out tracks" />;
  if (loaded.value.groups.every((group) => group.tracks.length === 0)) {
    return (
      <Empty title="Nothing with a time was recorded" remedy="fathom run -- COMMAND">
        <p>
          The recording holds no slices: neither operators, nor calls, nor activity of a device.
        </p>
      </Empty>
    );
  }
  return <Board context={context} answer={loaded.value} />;
}

export const timeline: View = { id: 'timeline', title: 'Timeline', mount: mounted(Screen) };
