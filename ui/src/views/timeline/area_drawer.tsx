// Sums of the selected area: by name or category, its accounting, and a flame graph of exactly that time.
import { useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import { pathOf } from '../../api/urls';
import { windowOf } from '../../base/scope';
import type { ViewState } from '../../base/view_state';
import type { Column, FlameNode, SelectionAnswer } from '../../api/types';
import { AccountingBar } from '../../components/accounting_bar';
import { Drawer } from '../../components/drawer';
import { DataTable } from '../../components/data_table';
import { Icicle } from '../../components/icicle';
import { Failed, Loading } from '../../components/notice';
import { Tabs } from '../../components/tabs';
import { latest, useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import type { ViewContext } from '../view';

const column = (name: string, kind: string, doc: string): Column => ({ name, kind, unit: '', doc });
const COLUMNS: readonly Column[] = [
  column('name', 'name', 'Of the slices.'),
  column('total_ns', 'duration_ns', 'Sum of their durations, clipped to the area.'),
  column('covered_ns', 'duration_ns', 'Time in which at least one of them runs.'),
  column('slices', 'count', 'How many.'),
];

export function AreaDrawer(props: {
  area: NonNullable<ViewState['area']>;
  context: ViewContext;
  onEnd: () => void;
}) {
  const { area, context } = props;
  const [group, setGroup] = useState<'name' | 'category'>('name');
  const [flame, setFlame] = useState(false);
  const where = [
    ['begin', area.begin],
    ['end', area.end],
    ['tracks', area.tracks.join(',')],
  ] as const;
  const loaded = useAnswer<SelectionAnswer>(
    context.client,
    pathOf('api/selection', [...where, ['group', group]]),
  );
  useDiagnosis(context.client, null);
  const flames = useAnswer<FlameNode>(context.client, flame ? pathOf('api/flame', where) : null);
  const sums = latest(loaded);
  const root = latest(flames);
  return (
    <Drawer
      label="Selected area"
      title={`Area of ${durationText(area.end - area.begin)}`}
      onEnd={props.onEnd}
    >
      <p class="actions">
        <button onClick={() => context.showTime(area.begin, area.end)}>Fit</button>
        <button
          title="All views then look at this stretch of time only"
          onClick={() =>
            context.setScope({
              window: windowOf(area.begin - context.origin, area.end - context.origin),
            })
          }
        >
          Use as scope
        </button>
        <button aria-pressed={flame} onClick={() => setFlame(!flame)}>
          Flame graph
        </button>
      </p>
      <Failed what="No sums" of={loaded} />
      {!sums && loaded.state === 'loading' && <Loading what="Adding up" />}
      {sums?.accounting.map((account) => (
        <section key={account.device ?? 'host'}>
          <h3>{account.device === null ? 'Main thread' : `Device ${account.device}`}</h3>
          <AccountingBar
            thin
            times
            label="Accounting of the area"
            of="timeline.account_ns"
            account={Object.fromEntries(account.buckets.map((bucket) => [bucket.id, bucket.ns]))}
          />
        </section>
      ))}
      {flame && root && (
        <section>
          <h3>Flame graph</h3>
          <Icicle
            root={root}
            label="Flame graph of the area"
            of="flame.total_ns"
            search=""
            text={durationText}
          />
        </section>
      )}
      {sums && (
        <section>
          <Tabs
            label="Sums by"
            word="By"
            choices={['name', 'category']}
            chosen={group}
            onChoose={setGroup}
          />
          <DataTable
            label={`Sums by ${group}`}
            of="timeline"
            columns={
              group === 'name' ? COLUMNS : [column('category', 'text', ''), ...COLUMNS.slice(1)]
            }
            rows={sums.rows as unknown as readonly Record<string, unknown>[]}
            rowTitle="Find all of this name"
            onRow={(row) => group === 'name' && context.showName(String(row['name']))}
          />
        </section>
      )}
    </Drawer>
  );
}
