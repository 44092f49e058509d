// The column at the left: groups that open and close, tracks that fold and can be pinned.
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { countText, durationText } from '../../base/format';
import type { Track } from '../../api/types';
import type { Layout } from './layout';
import { listen } from '../../base/listen';
import { Aside } from '../plain';

/** What a track shows, as `data-n` has it. */
const numberOf = ({ kind, unit }: Track): string | undefined =>
  kind === 'accounting'
    ? 'timeline.account_ns'
    : kind !== 'counter'
      ? 'timeline.total_ns'
      : unit === 'bytes'
        ? 'memory.peak'
        : undefined;

/** There may be very many tracks: only the headings in sight, and some above and below, are elements. */
const PART = 4000;

export function Headings(props: {
  layout: Layout;
  scroller: RefObject<HTMLElement | null>;
  /** Of two recordings beside each other none is greyed: what is harmed is known of the first alone. */
  beside: boolean;
  onGroup: (key: string) => void;
  onFold: (track: number) => void;
  onPin: (track: number) => void;
}) {
  const [part, setPart] = useState(0);
  useEffect(() => {
    const end = new AbortController();
    const scroller = props.scroller.current!;
    const look = (): void => setPart(Math.floor(scroller.scrollTop / PART));
    look();
    listen(scroller, 'scroll', look, end);
    return () => end.abort();
  }, []);
  return (
    <div class="tl-headings">
      {props.layout.rows.map((row) =>
        Math.abs(row.y / PART - part - 0.5) > 1.5 ? null : row.type === 'group' ? (
          <button
            class="tl-group"
            key={row.key}
            aria-expanded={!row.closed}
            style={{ top: `${row.y}px`, height: `${row.height}px` }}
            onClick={() => props.onGroup(row.key)}
          >
            <span aria-hidden="true">{row.closed ? '▸' : '▾'}</span> {row.title}{' '}
            <Aside>{row.tracks}</Aside>
          </button>
        ) : (
          <div
            class="tl-heading"
            key={`${row.pinned ? 'pin' : 'row'}${row.track.id}`}
            style={{ top: `${row.y}px`, height: `${row.height}px` }}
            title={`${row.track.title}: ${countText(row.track.slices)} slices, ${durationText(row.track.covered_ns ?? 0)}`}
          >
            {row.track.lanes > 1 && row.track.kind !== 'counter' ? (
              <button
                class="tl-title"
                data-n={props.beside ? undefined : numberOf(row.track)}
                aria-expanded={!row.folded}
                onClick={() => props.onFold(row.track.id)}
              >
                <span aria-hidden="true">{row.folded ? '▸' : '▾'}</span> {row.track.title}
              </button>
            ) : (
              <span class="tl-title" data-n={props.beside ? undefined : numberOf(row.track)}>
                {row.track.title}
              </span>
            )}
            <button
              class="tl-pin"
              aria-pressed={row.pinned}
              aria-label={`${row.pinned ? 'Unpin' : 'Pin'} ${row.track.title}`}
              onClick={() => props.onPin(row.track.id)}
            >
              {row.pinned ? '◆' : '◇'}
            </button>
          </div>
        ),
      )}
    </div>
  );
}
