// Search over all names: how many hits, in which names, where along the time.
import { useEffect, useRef, useState } from 'preact/hooks';
import { countText, durationText } from '../../base/format';
import { pathOf } from '../../api/urls';
import { idOf, type SearchAnswer } from '../../api/types';
import { latest, useAnswer } from '../../components/use_answer';
import type { ViewContext } from '../view';
import { Aside, Quiet } from '../../components/plain';

const FIRST = 500;

export function SearchBox(props: {
  context: ViewContext;
  query: string;
  onDensity: (density: readonly number[]) => void;
  onPick: (slice: number) => void;
  inputRef: { current: HTMLInputElement | null };
}) {
  const { context, query } = props;
  const [at, setAt] = useState(-1);
  const [open, setOpen] = useState(false);
  const timer = useRef(0);
  // What is typed is not taken back by what was asked before.
  const [text, setText] = useState(query);
  useEffect(() => {
    if (timer.current === 0) setText(query);
  }, [query]);
  const loaded = useAnswer<SearchAnswer>(
    context.client,
    query === ''
      ? null
      : pathOf('api/search', [
          ['q', query],
          ['limit', FIRST],
        ]),
  );
  const found = query === '' ? null : latest(loaded);
  // Enter before the answer is here goes to the first hit as soon as it is.
  const pending = useRef(false);
  const first = loaded.state === 'ready' ? (found?.first.map(idOf) ?? []) : [];
  const jump = (by: number): void => {
    const early = loaded.state === 'loading' || text !== query;
    pending.current = early;
    if (early || first.length === 0) return;
    const next = (at + by + first.length) % first.length;
    setAt(next);
    props.onPick(first[next] ?? 0);
  };
  useEffect(() => {
    props.onDensity(found?.density ?? []);
    setAt(-1);
    if (loaded.state !== 'ready' || query === '') return;
    const hit = found?.first[0];
    if (pending.current && hit !== undefined) {
      setAt(0);
      props.onPick(idOf(hit));
    }
    pending.current = false;
  }, [found, loaded.state]);
  return (
    <form
      class="search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        jump(1);
      }}
    >
      <input
        type="search"
        ref={props.inputRef}
        value={text}
        aria-label="Search names of slices"
        placeholder="Search names ( / )"
        onInput={(event) => {
          const typed = event.currentTarget.value;
          setText(typed);
          clearTimeout(timer.current);
          timer.current = setTimeout(() => {
            timer.current = 0;
            context.go({ search: typed });
          }, 120) as unknown as number;
        }}
        onKeyDown={(event) => {
          if (event.code === 'Enter' && event.shiftKey) {
            event.preventDefault();
            jump(-1);
          }
          if (event.code === 'Escape') event.currentTarget.blur();
        }}
      />
      {found && (
        <>
          <span class="soft" role="status">
            {countText(found.slices)} in {countText(found.names.length)} names
            {at >= 0 ? `, no. ${at + 1}` : ''}
          </span>
          <Quiet
            type="button"
            aria-label="Previous hit"
            onClick={() => jump(first.length > 0 && at < 0 ? 0 : -1)}
          >
            ‹
          </Quiet>
          <Quiet type="submit" aria-label="Next hit">
            ›
          </Quiet>
          <Quiet type="button" aria-expanded={open} onClick={() => setOpen(!open)}>
            Names
          </Quiet>
          {open && (
            <ul class="search-names">
              {found.names.slice(0, 40).map((name) => (
                <li key={name.name}>
                  <button
                    type="button"
                    onClick={() => {
                      setOpen(false);
                      context.go({ search: name.name });
                    }}
                  >
                    <span>{name.name}</span>
                    <Aside>
                      {countText(name.slices)} · {durationText(name.total_ns)}
                    </Aside>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
      {loaded.state === 'failed' && query !== '' && (
        <span class="warning">{loaded.error.message}</span>
      )}
    </form>
  );
}
