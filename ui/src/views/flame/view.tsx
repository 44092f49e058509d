// The flame graph: call paths with their time or memory, of what the scope selects.
import { useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import { pathOf, tableCommand } from '../../api/urls';
import type { FlameNode } from '../../api/types';
import { CopyButton } from '../../components/copy_button';
import { Icicle } from '../../components/icicle';
import { Empty, Failed, Loading } from '../../components/notice';
import { latest, useAnswer } from '../../components/use_answer';
import { useStore } from '../../components/use_store';
import { mounted } from '../mount';
import { selectedTime } from '../selected_time';
import type { ViewContext } from '../view';

function Screen(props: { context: ViewContext }) {
  const { context } = props;
  const state = useStore(context.state);
  const [needle, setNeedle] = useState('');
  const time = selectedTime(context);
  const loaded = useAnswer<FlameNode>(
    context.client,
    pathOf('api/flame', [
      ['begin', time?.[0] ?? ''],
      ['end', time?.[1] ?? ''],
    ]),
  );
  const root = latest(loaded);
  return (
    <div class="flame-view">
      <div class="toolbar">
        <h2>Flame graph</h2>
        <input
          type="search"
          value={needle}
          aria-label="Search frames"
          placeholder="Search frames"
          onInput={(event) => setNeedle(event.currentTarget.value)}
        />
        <span class="grow" />
        <CopyButton
          label="Copy as command"
          text={() =>
            tableCommand(
              'stacks',
              { sort: '', filter: '', groupBy: '' },
              state.scope,
              context.session.input,
            )
          }
        />
      </div>
      {loaded.state === 'failed' && <Failed what="No flame graph" error={loaded.error} />}
      {!root && loaded.state === 'loading' && <Loading what="Adding up call paths" />}
      {root && root.total_ns <= 0 && (
        <Empty
          title="No call paths in this scope"
          remedy="torch.profiler.profile(with_stack=True)"
        />
      )}
      {root && root.total_ns > 0 && (
        <Icicle root={root} label="Flame graph by time" search={needle} text={durationText} />
      )}
    </div>
  );
}

export const flame = mounted(Screen);
