// The definition of a word, as `fathom explain` prints it, in a dialog.
import { useEffect, useRef } from 'preact/hooks';
import type { TraceClient } from '../api/client';
import { pathOf } from '../api/urls';
import { useAnswer } from '../components/use_answer';

interface Explanation {
  readonly meanings: readonly {
    readonly kind: string;
    readonly name: string;
    readonly remark: string | null;
    readonly doc: string;
  }[];
}

export function Explain(props: { client: TraceClient; word: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const loaded = useAnswer<Explanation>(props.client, pathOf('api/explain', [['id', props.word]]));
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="explain-word" onClose={props.onClose}>
      <header>
        <h2 id="explain-word">{props.word.replaceAll('_', ' ')}</h2>
        <button
          type="button"
          class="quiet"
          aria-label="Close"
          onClick={() => dialog.current?.close()}
        >
          ×
        </button>
      </header>
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
    </dialog>
  );
}
