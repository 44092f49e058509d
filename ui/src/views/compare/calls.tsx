// Two recordings beside each other: the calls of a step as a differential flame graph, and a step of each along the time.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import type { Result } from '../../base/result';
import type { TraceClient } from '../../api/client';
import { difference } from '../../api/flame_trees';
import { pathOf } from '../../api/urls';
import type { FlameNode, SessionInfo, StepSpan } from '../../api/types';
import { Icicle } from '../../components/icicle';
import { Empty, Failed, Loading } from '../../components/notice';
import { Tabs } from '../../components/tabs';
import { useAnswer } from '../../components/use_answer';
import type { ViewContext } from '../view';
import { Timelines, type Recording } from './timelines';

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

const useCalls = (client: TraceClient, { begin, end }: Stretch) =>
  useAnswer<FlameNode>(
    client,
    pathOf('api/flame', [
      ['begin', begin],
      ['end', end],
    ]),
  );

function DifferentialFlame(props: { base: Recording; next: Recording }) {
  const stretches = [stretchOf(props.base.session), stretchOf(props.next.session)] as const;
  const steps = [stretches[0].steps, stretches[1].steps] as const;
  const [wide, setWide] = useState<'base' | 'new'>('new');
  const base = useCalls(props.base.client, stretches[0]);
  const next = useCalls(props.next.client, stretches[1]);
  const root = useMemo(
    () =>
      base.state === 'ready' && next.state === 'ready'
        ? difference([base.value], [next.value], steps, wide)
        : null,
    [base, next, ...steps, wide],
  );
  for (const loaded of [base, next])
    if (loaded.state === 'failed') return <Failed what="No calls" of={loaded} />;
  if (!root) return <Loading what="Adding up calls" />;
  return (
    <>
      <Tabs
        label="Widths are those of"
        word="As wide as"
        choices={['base', 'new']}
        chosen={wide}
        onChoose={setWide}
      />
      <Icicle
        root={root}
        label="Calls of a step: ▲ more time than in the base, ▼ less"
        of="compare.change_ns"
        search=""
        text={durationText}
      />
    </>
  );
}

const AGAIN_MS = 150;

/** What is known of a recording once its steps are: they are found after it is read. */
function useSession(client: TraceClient): Result<SessionInfo> | null {
  const [session, setSession] = useState<Result<SessionInfo> | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      const answer = await client.json<SessionInfo>('api/session', abort.signal);
      if (abort.signal.aborted) return;
      if (answer.ok && answer.value.analysed === false)
        timer = setTimeout(() => void ask(), AGAIN_MS) as unknown as number;
      else setSession(answer);
    };
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [client]);
  return session;
}

export function Calls(props: { context: ViewContext }) {
  const { client } = props.context;
  const clients = useMemo(() => [client.about(''), client.about('1')] as const, [client]);
  const base = useSession(clients[0]);
  const next = useSession(clients[1]);
  if (base?.ok === false)
    return <Failed what="No base" of={{ state: 'failed', error: base.error }} />;
  if (next?.ok === false)
    return <Failed what="No second recording" of={{ state: 'failed', error: next.error }} />;
  if (!base || !next) return <Loading what="Opening both" />;
  const pair = [base.value, next.value].map((session, i) => ({
    client: clients[i] as TraceClient,
    session,
    steps: countedOf(session),
  })) as [Recording, Recording];
  const without = pair.findIndex((each) => each.steps.length === 0);
  if (without >= 0) {
    return (
      <Empty title="No steps beside each other">
        <p>{without === 0 ? 'The base' : 'The new recording'} has no steps.</p>
      </Empty>
    );
  }
  return (
    <>
      <section>
        <h2>A step of each, along the time</h2>
        <Timelines context={props.context} base={pair[0]} next={pair[1]} />
      </section>
      <section>
        <h2>Calls per step</h2>
        <DifferentialFlame base={pair[0]} next={pair[1]} />
      </section>
    </>
  );
}
