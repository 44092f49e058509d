// The definition of a word, as `fathom explain` prints it, in a dialog.
import type { TraceClient } from '../api/client';
import { pathOf } from '../api/urls';
import { useAnswer } from '../components/use_answer';
import { Dialog } from './dialog';

interface Explanation {
  readonly meanings: readonly {
    readonly kind: string;
    readonly name: string;
    readonly remark: string | null;
    readonly doc: string;
  }[];
}

export function Explain(props: { client: TraceClient; word: string; onEnd: () => void }) {
  const loaded = useAnswer<Explanation>(props.client, pathOf('api/explain', [['id', props.word]]));
  return (
    <Dialog title={props.word.replaceAll('_', ' ')} onEnd={props.onEnd}>
      <div class="prose" tabIndex={0}>
        {loaded.state === 'failed'
          ? loaded.error.message
          : loaded.state === 'ready'
            ? loaded.value.meanings.map((meaning) => (
                <section key={meaning.kind + meaning.name}>
                  <h3>
                    {meaning.name} <span class="soft">{meaning.kind}</span>
                  </h3>
                  {meaning.remark && <p class="soft">{meaning.remark}</p>}
                  <p>{meaning.doc}</p>
                </section>
              ))
            : '…'}
      </div>
    </Dialog>
  );
}
