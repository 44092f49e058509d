// Memory: allocated and reserved over time, and the operators that allocate.
import { useMemo, useState } from 'preact/hooks';
import { counterText, durationText, valueTextIn } from '../../base/format';
import { ofMemory, type MemoryNode } from '../../api/flame_trees';
import { AS_IT_IS, pathOf, tablePath, TABLE_SCOPE, TIME_SCOPE, viewCommand } from '../../api/urls';
import type { CounterBin, TableAnswer, Track, TracksAnswer } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CopyCommand } from '../../components/copy_button';
import { DataTable } from '../../components/data_table';
import { Icicle } from '../../components/icicle';
import { Empty, Failed, Loading } from '../../components/notice';
import { latest, useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import { selectedTime } from '../selected_time';
import type { ViewContext } from '../view';
import { Aside, Jump, RECORD_MEMORY, Soft, Toolbar } from '../../components/plain';

const BINS = 400;
const WIDTH = 1000;
const HEIGHT = 120;

/** A curve of a counter as an area; a click opens the timeline there. */
function Curve(props: {
  track: Track;
  context: ViewContext;
  begin: number;
  end: number;
  onPeak: (at: number) => void;
}) {
  const { track, context, begin, end } = props;
  const loaded = useAnswer<{ bins: CounterBin[] }>(
    context.client,
    pathOf('api/counters', [
      ['track', track.id],
      ['begin', begin],
      ['end', end],
      ['bins', BINS],
    ]),
  );
  const bins = latest(loaded)?.bins ?? [];
  const most = Math.max(0, ...bins.map((bin) => bin.max));
  const peak = bins.find((bin) => bin.max === most);
  const text = (value: number): string => counterText(value, track.unit ?? '');
  const x = (ns: number): number => ((ns - begin) / Math.max(1, end - begin)) * WIDTH;
  const y = (value: number): number => HEIGHT - (HEIGHT - 4) * (most > 0 ? value / most : 0);
  const points = bins.flatMap((bin, i) => {
    const next = bins[i + 1]?.begin_ns ?? end;
    return [
      `${x(bin.begin_ns).toFixed(1)},${y(bin.max).toFixed(1)}`,
      `${x(next).toFixed(1)},${y(bin.max).toFixed(1)}`,
    ];
  });
  return (
    <figure class="curve">
      <figcaption>
        <b>{track.title}</b>{' '}
        <Aside data-n="memory.peak">
          {peak
            ? `peak ${text(most)} at ${durationText(peak.max_at_ns)}`
            : loaded.state === 'loading'
              ? '…'
              : 'no values'}
        </Aside>
        {peak && (
          <Jump
            onClick={() => {
              const around = (end - begin) * 0.02;
              context.showTime(peak.max_at_ns - around, peak.max_at_ns + around);
            }}
          >
            Show the peak
          </Jump>
        )}
        {peak && <Jump onClick={() => props.onPeak(peak.max_at_ns)}>What is there then</Jump>}
      </figcaption>
      {bins.length > 0 && (
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${track.title} over time, peak ${text(most)}`}
        >
          <polygon
            class="curve-area"
            points={`${x(bins[0]?.begin_ns ?? 0)},${HEIGHT} ${points.join(' ')} ${WIDTH},${HEIGHT}`}
          />
          <polyline class="curve-line" points={points.join(' ')} />
        </svg>
      )}
    </figure>
  );
}

/** What is not freed at a time, by the calls that allocated it. */
function Composition(props: { context: ViewContext; at: number }) {
  const loaded = useAnswer<MemoryNode>(
    props.context.client,
    pathOf('api/flame', [
      ['alive-at', Math.round(props.at)],
      ['weight', 'memory'],
    ]),
  );
  const answer = latest(loaded);
  const root = useMemo(() => answer && ofMemory(answer), [answer]);
  if (loaded.state === 'failed') return <Failed what="No composition" of={loaded} />;
  if (!root) return <Loading what="Adding up what is allocated" />;
  return (
    <section>
      <h2>Allocated at {durationText(props.at - props.context.origin)}, by call</h2>
      <Soft>
        Of devices, where they have memory. What was allocated before the recording, or outside of a
        call, is not in it.
      </Soft>
      {root.total_ns > 0 ? (
        <Icicle
          root={root}
          label="Memory allocated at the peak"
          of="memory.peak"
          search=""
          text={(value) => valueTextIn(value, 'bytes')}
        />
      ) : (
        <Empty
          title="No allocation before that was recorded inside a call"
          remedy={RECORD_MEMORY}
        />
      )}
    </section>
  );
}

/** Operators by what they allocate, from the columns of the table of operators that count bytes. */
function Allocators(props: { context: ViewContext }) {
  const { context } = props;
  const state = useStore(context.state, 'scope');
  const loaded = useAnswer<TableAnswer>(context.client, tablePath('ops', AS_IT_IS, state.scope));
  if (loaded.state === 'failed') return <Failed what="No operators" of={loaded} />;
  const table = latest(loaded);
  if (!table) return <Loading what="Adding up" />;
  const columns = table.columns.filter(
    (column) =>
      column.kind === 'bytes' &&
      table.rows.some((row) => row[column.name] !== null && row[column.name] !== 0),
  );
  const key = columns[0]?.name;
  if (key === undefined) {
    return <Soft>No operator has allocated, or the allocator's events were not recorded.</Soft>;
  }
  const rows = [...table.rows]
    .filter((row) => columns.some((column) => row[column.name] !== null && row[column.name] !== 0))
    .sort((a, b) => Math.abs(Number(b[key] ?? 0)) - Math.abs(Number(a[key] ?? 0)));
  const shown = table.columns.filter(
    (column) => column.name === 'name' || column.name === 'calls' || columns.includes(column),
  );
  return (
    <div class="short-table">
      <DataTable
        label="Operators by allocation"
        of="ops"
        columns={shown}
        rows={rows}
        rowTitle="Show in the timeline"
        onRow={(row) => context.showName(String(row['name']))}
      />
    </div>
  );
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  useDiagnosis(context.client, null);
  const loaded = useAnswer<TracksAnswer>(context.client, 'api/tracks');
  const [peak, setPeak] = useState<number | null>(null);
  const state = useStore(context.state);
  if (loaded.state === 'failed') return <Failed what="No tracks" of={loaded} />;
  if (loaded.state === 'loading') return <Loading what="Looking for memory" />;
  const counters = loaded.value.groups
    .flatMap((group) => group.tracks)
    .filter((track) => track.kind === 'counter');
  const memory = counters.filter(
    (track) => track.unit === 'bytes' || /memory|alloc|reserved|rss|bytes/i.test(track.title),
  );
  const range = context.session.range ?? { begin_ns: 0, end_ns: 1 };
  const [begin, end] = selectedTime(context) ?? [Math.max(0, range.begin_ns), range.end_ns];
  if (memory.length === 0) {
    return (
      <Empty title="Memory was not recorded" remedy={`${RECORD_MEMORY}, or fathom run -- COMMAND`}>
        <p>The recording holds neither the allocator's events nor a counter of memory.</p>
      </Empty>
    );
  }
  return (
    <div class="memory">
      <Toolbar title="Memory over time">
        <CopyCommand text={() => viewCommand(state, context.session)} />
      </Toolbar>
      <Beyond scope={state.scope} known={TIME_SCOPE} />
      {memory.map((track) => (
        <Curve
          key={track.id}
          track={track}
          context={context}
          begin={begin}
          end={end}
          onPeak={setPeak}
        />
      ))}
      {peak !== null && <Composition context={context} at={peak} />}
      <h2>Operators by allocation</h2>
      <Beyond scope={state.scope} known={TABLE_SCOPE} />
      <Allocators context={context} />
    </div>
  );
}

export const memory = mounted(Screen);
