// Two recordings: what changed, where, and by what cause; every level sums to the one above.
import { useMemo, useState } from 'preact/hooks';
import { countText, durationText, percentText } from '../../base/format';
import { compareCommand } from '../../api/urls';
import type { CompareAnswer, ComparePair, CompareRow } from '../../api/types';
import { Beyond } from '../../components/beyond';
import { CommandLine, CopyCommand } from '../../components/copy_button';
import { Empty, Loading } from '../../components/notice';
import { Tabs } from '../../components/tabs';
import { latest, useAnswer } from '../../components/use_answer';
import { useDiagnosis } from '../../components/use_diagnosis';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import type { ViewContext } from '../view';
import { Calls } from './calls';
import { Aside, Num, Quiet, RowHead, Small, Soft, Term, Toolbar } from '../../components/plain';

const signed = (ns: number): string =>
  `${ns > 0 ? '+' : ns < 0 ? '−' : ''}${durationText(Math.abs(ns))}`;
const words = (id: string): string => id.replaceAll('_', ' ');

/** A bar to the left of the middle for what became faster, to the right for what became slower. */
function Delta(props: { ns: number; most: number }) {
  const share = Math.min(1, Math.abs(props.ns) / Math.max(1, props.most));
  return (
    <span class={`delta ${props.ns < 0 ? 'faster' : 'slower'}`} aria-hidden="true">
      <i style={{ width: `${50 * share}%` }} />
    </span>
  );
}

/** A cell with what changed. */
const Change = (props: { ns: number }) => <Num data-n="compare.change_ns">{signed(props.ns)}</Num>;

const rowsText = ({ length }: readonly unknown[]): string =>
  length === 1 ? '1 row' : `${length} rows`;

function Rows(props: { rows: readonly CompareRow[]; most: number; context: ViewContext }) {
  const [all, setAll] = useState(false);
  const shown = all ? props.rows : props.rows.slice(0, 12);
  return (
    <>
      {shown.map((row, i) => (
        <tr key={i} class="inner">
          <RowHead>
            <Term id={row.what} lead={props.context.showName} />
            {row.module && <Aside> {row.module}</Aside>}
            {row.place && <code> {row.place}</code>}
          </RowHead>
          <Change ns={row.change_ns} />
          <td>
            <Delta ns={row.change_ns} most={props.most} />
          </td>
          <td>
            <Term id={row.cause}>{words(row.cause)}</Term> <Aside>{row.detail}</Aside>
          </td>
          <Num data-n="compare.calls">
            {countText(row.base_calls)} → {countText(row.new_calls)}
          </Num>
        </tr>
      ))}
      {shown.length < props.rows.length && (
        <tr class="inner">
          <td colSpan={5}>
            <button onClick={() => setAll(true)}>{props.rows.length - shown.length} more</button>
          </td>
        </tr>
      )}
    </>
  );
}

/** One level of the changes: its parts sum to it. */
interface Group {
  readonly id: string;
  readonly change_ns: number;
  readonly rows: readonly number[];
  readonly modules?: NonNullable<ComparePair['phases']>[number]['modules'];
}

/** Where the change lies by the steps of these runs. */
function boundsText(bounds: ComparePair['ratio_interval']): string {
  if (!bounds) return '';
  const [low, high] = bounds.map((bound) => percentText(100 * (bound - 1)));
  return `; within these runs ${low} to ${high} at 95 %`;
}

function Pair(props: { pair: ComparePair; context: ViewContext }) {
  const { pair, context } = props;
  const [by, setBy] = useState<'bucket' | 'phase' | 'cause'>('bucket');
  const [open, setOpen] = useState('');
  const [module, setModule] = useState<string | null>(null);
  const groups: readonly Group[] = {
    bucket: () =>
      (pair.buckets ?? []).map(({ bucket, change_ns, rows }) => ({ id: bucket, change_ns, rows })),
    cause: () =>
      (pair.causes ?? []).map(({ cause, change_ns, rows }) => ({ id: cause, change_ns, rows })),
    phase: () =>
      (pair.phases ?? []).map(({ phase, change_ns, modules }) => ({
        id: phase,
        change_ns,
        rows: modules.flatMap((each) => each.rows),
        modules,
      })),
  }[by]();
  const most = Math.max(1, ...groups.map((group) => Math.abs(group.change_ns)));
  const rows = (indices: readonly number[]): CompareRow[] =>
    indices.map((i) => pair.rows?.[i]).filter((row) => row !== undefined);
  return (
    <>
      <div class="verdict">
        <h2 class="display">
          {pair.change_ns < 0 ? 'faster' : pair.change_ns > 0 ? 'slower' : 'the same'}
        </h2>
        <p class="sentence" data-n="compare.change_ns">
          {durationText(pair.base.median_ns)} → {durationText(pair.new.median_ns)} a step,{' '}
          {signed(pair.change_ns)} ({percentText(100 * (pair.ratio - 1))})
          {boundsText(pair.ratio_interval)}
        </p>
        <p class="step-time soft">
          <Term id={pair.comparability}>{words(pair.comparability)}</Term>, {pair.base.steps} and{' '}
          {pair.new.steps} steps
        </p>
      </div>
      {pair.ratio_note && <Soft>{pair.ratio_note}</Soft>}
      {pair.notes?.map((note) => (
        <Soft key={note}>{note}</Soft>
      ))}
      {(pair.differs ?? []).length > 0 && (
        <section>
          <h2>What differs between the runs</h2>
          <Small heads={['what', 'base', 'new']}>
            {pair.differs?.map((each, i) => (
              <tr key={i}>
                <RowHead>{String(each['title'])}</RowHead>
                <td>{String(each['base'])}</td>
                <td>{String(each['new'])}</td>
              </tr>
            ))}
          </Small>
        </section>
      )}
      {groups.length > 0 && (
        <section>
          <Tabs
            label="Divided by"
            word="By"
            choices={['bucket', 'phase', 'cause']}
            chosen={by}
            onChoose={setBy}
          />
          <div class="wide">
            <Small
              class="plain compare-table"
              heads={['what', '#change per step@step', 'faster, slower', 'cause', '#calls']}
            >
              {groups.map((group) => (
                <>
                  <tr key={group.id}>
                    <RowHead>
                      <Quiet
                        aria-expanded={open === group.id}
                        onClick={() => setOpen(open === group.id ? '' : group.id)}
                      >
                        {open === group.id ? '▾' : '▸'} {words(group.id)}
                      </Quiet>
                    </RowHead>
                    <Change ns={group.change_ns} />
                    <td>
                      <Delta ns={group.change_ns} most={most} />
                    </td>
                    <td class="soft">{rowsText(group.rows)}</td>
                    <Num>
                      <Term id={group.id}>definition</Term>
                    </Num>
                  </tr>
                  {open === group.id && !group.modules && (
                    <Rows rows={rows(group.rows)} most={most} context={context} />
                  )}
                  {open === group.id &&
                    group.modules?.map((each) => (
                      <>
                        <tr key={each.module} class="inner">
                          <RowHead>
                            <Quiet
                              aria-expanded={module === each.module}
                              onClick={() => setModule(module === each.module ? null : each.module)}
                            >
                              {module === each.module ? '▾' : '▸'}{' '}
                              {each.module || 'outside of modules'}
                            </Quiet>
                          </RowHead>
                          <Change ns={each.change_ns} />
                          <td>
                            <Delta ns={each.change_ns} most={most} />
                          </td>
                          <td class="soft">{rowsText(each.rows)}</td>
                          <td />
                        </tr>
                        {module === each.module && (
                          <Rows rows={rows(each.rows)} most={most} context={context} />
                        )}
                      </>
                    ))}
                </>
              ))}
              {pair.skew_ns !== undefined && pair.skew_ns !== 0 && (
                <tr>
                  <RowHead>median less mean</RowHead>
                  <Change ns={pair.skew_ns} />
                  <td />
                  <td />
                  <td />
                </tr>
              )}
            </Small>
          </div>
        </section>
      )}
      {(pair.counters ?? []).length > 0 && (
        <section>
          <h2>Counts</h2>
          <Small>
            {pair.counters?.map((counter) => (
              <tr key={counter.id}>
                <RowHead>{counter.title}</RowHead>
                <Num>{countText(counter.base)}</Num>
                <Num>{countText(counter.new)}</Num>
                <td>{counter.equal ? 'equal' : 'differs'}</td>
              </tr>
            ))}
          </Small>
        </section>
      )}
    </>
  );
}

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const { scope } = useStore(context.state, 'scope');
  const inputs = context.session.inputs ?? [];
  const several = inputs.length >= 2;
  const [diagnosed, diagnosis] = useDiagnosis(context.client, null, several ? undefined : 'none');
  const ofRanks = Boolean(diagnosis?.ranks);
  const asked = several && diagnosed.state !== 'loading' && !ofRanks;
  const second = useMemo(() => context.client.about('1'), [context.client]);
  useDiagnosis(second, null, asked && inputs.length === 2 ? 'other' : 'none');
  const loaded = useAnswer<CompareAnswer>(context.client, asked ? 'api/compare' : null);
  if (!several) {
    return (
      <Empty title="One recording" remedy="fathom view BASE NEW">
        <p>Two recordings of the same work show what changed between them, where, and why.</p>
      </Empty>
    );
  }
  if (ofRanks) {
    return (
      <Empty title="Ranks of one run" remedy="fathom compare BASE_FOLDER NEW_FOLDER">
        <p>
          These recordings are of one run: the view of ranks has them beside each other. Two runs
          can be compared.
        </p>
      </Empty>
    );
  }
  const command = compareCommand(inputs[0]?.name ?? '', inputs[1]?.name ?? '');
  if (loaded.state === 'failed') {
    return (
      <Empty title="No comparison here">
        <p>{loaded.error.message}</p>
        <p>The command line has it:</p>
        <CommandLine command={command} />
      </Empty>
    );
  }
  const answer = latest(loaded);
  const pair = answer?.pairs[answer.shown] ?? answer?.pairs[0];
  if (!pair) return <Loading what="Comparing" />;
  return (
    <div class="compare">
      <Toolbar title={`${inputs[0]?.name} → ${inputs[1]?.name}`}>
        <CopyCommand text={() => command} />
      </Toolbar>
      <Beyond scope={scope} known={[]} />
      <Pair pair={pair} context={context} />
      {inputs.length === 2 && <Calls context={context} />}
    </div>
  );
}

export const compare = mounted(Screen);
