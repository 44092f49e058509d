// Two recordings beside each other: the calls of a step as a differential flame graph, and a step of each along the time.
import { useMemo, useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import { paintOf } from '../../base/palette';
import { difference } from '../../api/flame_trees';
import { pathOf } from '../../api/urls';
import type { FlameNode, SessionInfo, StepSpan } from '../../api/types';
import { Icicle } from '../../components/icicle';
import { Empty, Failed, Loading } from '../../components/notice';
import { useAnswer } from '../../components/use_answer';
import type { ViewContext } from '../view';

const BASE = 0;
const NEW = 1;

const countedOf = (session: SessionInfo): readonly StepSpan[] => {
  const steps = session.steps ?? [];
  const counted = steps.filter((step) => step.counted);
  return counted.length > 0 ? counted : steps;
};

/** What the calls are of: from the first counted step to the last, with all steps in between. */
function stretchOf(session: SessionInfo): { begin: number; end: number; steps: number } {
  const counted = countedOf(session);
  const begin = Math.min(...counted.map((step) => step.begin_ns));
  const end = Math.max(...counted.map((step) => step.end_ns));
  const inside = (session.steps ?? []).filter(
    (step) => step.begin_ns >= begin && step.end_ns <= end,
  );
  return { begin, end, steps: inside.length };
}

type Stretch = ReturnType<typeof stretchOf>;

function useCalls(context: ViewContext, input: number, { begin, end }: Stretch) {
  return useAnswer<FlameNode>(
    context.client,
    pathOf('api/flame', [
      ['begin', begin],
      ['end', end],
      ['input', input],
    ]),
  );
}

function DifferentialFlame(props: { context: ViewContext; base: Stretch; next: Stretch }) {
  const steps = [props.base.steps, props.next.steps] as const;
  const [wide, setWide] = useState<'base' | 'new'>('new');
  const base = useCalls(props.context, BASE, props.base);
  const next = useCalls(props.context, NEW, props.next);
  const root = useMemo(
    () =>
      base.state === 'ready' && next.state === 'ready'
        ? difference([base.value], [next.value], steps, wide)
        : null,
    [base, next, ...steps, wide],
  );
  if (base.state === 'failed') return <Failed what="No calls" error={base.error} />;
  if (next.state === 'failed') return <Failed what="No calls" error={next.error} />;
  if (!root) return <Loading what="Adding up calls" />;
  return (
    <>
      <div class="tabs" role="group" aria-label="Widths are those of">
        {(['base', 'new'] as const).map((each) => (
          <button
            type="button"
            key={each}
            aria-pressed={wide === each}
            onClick={() => setWide(each)}
          >
            As wide as {each}
          </button>
        ))}
      </div>
      <Icicle
        root={root}
        label="Calls of a step: ▲ more time than in the base, ▼ less"
        search=""
        text={durationText}
      />
    </>
  );
}

interface Account {
  readonly segments: readonly {
    readonly begin_ns: number;
    readonly end_ns: number;
    readonly bucket: string;
  }[];
}

/** The accounting of a step along the time; `most` is the length that fills the width. */
function Strip(props: { context: ViewContext; input: number; step: StepSpan; most: number }) {
  const { step, most } = props;
  const loaded = useAnswer<Account>(
    props.context.client,
    pathOf('api/accounting', [
      ['begin', step.begin_ns],
      ['end', step.end_ns],
      ['input', props.input],
    ]),
  );
  if (loaded.state === 'failed') return <Failed what="No accounting" error={loaded.error} />;
  const segments = loaded.state === 'ready' ? loaded.value.segments : [];
  const at = (ns: number): string => `${(100 * ns) / most}%`;
  const length = durationText(step.end_ns - step.begin_ns);
  return (
    <figure>
      <figcaption>
        {props.input === BASE ? 'base' : 'new'}, step {step.number}: {length}
      </figcaption>
      <div
        class="strip"
        role="img"
        aria-label={`Step ${step.number} along the time, ${length}`}
        aria-busy={loaded.state === 'loading'}
      >
        {segments
          .filter((each) => each.end_ns - each.begin_ns > most / 2000)
          .map((each) => (
            <i
              key={each.begin_ns}
              class={`fill-${paintOf(each.bucket).css}`}
              title={`${paintOf(each.bucket).name}, ${durationText(each.end_ns - each.begin_ns)}`}
              style={{
                left: at(each.begin_ns - step.begin_ns),
                width: at(each.end_ns - each.begin_ns),
              }}
            />
          ))}
      </div>
    </figure>
  );
}

/** One step of each, which begin at the same place. */
function Steps(props: {
  context: ViewContext;
  base: readonly StepSpan[];
  next: readonly StepSpan[];
}) {
  const { context } = props;
  const [at, setAt] = useState(0);
  const last = Math.min(props.base.length, props.next.length) - 1;
  const base = props.base[at];
  const next = props.next[at];
  if (!base || !next) return null;
  const most = Math.max(base.end_ns - base.begin_ns, next.end_ns - next.begin_ns, 1);
  return (
    <>
      <div class="toolbar">
        <button type="button" disabled={at === 0} onClick={() => setAt(at - 1)}>
          Step before
        </button>
        <button type="button" disabled={at >= last} onClick={() => setAt(at + 1)}>
          Next step
        </button>
        <span class="soft">
          {at + 1} of {last + 1}
        </span>
      </div>
      <Strip context={context} input={BASE} step={base} most={most} />
      <Strip context={context} input={NEW} step={next} most={most} />
    </>
  );
}

export function Calls(props: { context: ViewContext }) {
  const { context } = props;
  const base = useAnswer<SessionInfo>(context.client, pathOf('api/session', [['input', BASE]]));
  const next = useAnswer<SessionInfo>(context.client, pathOf('api/session', [['input', NEW]]));
  if (base.state === 'failed') return <Failed what="No base" error={base.error} />;
  if (next.state === 'failed') return <Failed what="No second recording" error={next.error} />;
  if (base.state !== 'ready' || next.state !== 'ready') return <Loading what="Opening both" />;
  const steps = { base: countedOf(base.value), next: countedOf(next.value) };
  if (steps.base.length === 0 || steps.next.length === 0) {
    return (
      <Empty title="No steps beside each other">
        <p>{steps.base.length === 0 ? 'The base' : 'The new recording'} has no steps.</p>
      </Empty>
    );
  }
  return (
    <>
      <section>
        <h2>A step of each, along the time</h2>
        <Steps context={context} {...steps} />
      </section>
      <section>
        <h2>Calls per step</h2>
        <DifferentialFlame
          context={context}
          base={stretchOf(base.value)}
          next={stretchOf(next.value)}
        />
      </section>
    </>
  );
}
