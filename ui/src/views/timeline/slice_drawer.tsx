// Details of the selected slice: times, where it came from, what it led to, its arguments.
import { halved } from '../../base/halved';
import { bytesText, durationText, percentText, realText } from '../../base/format';
import { idOf, type LinkEnd, type SliceAnswer } from '../../api/types';
import { Drawer } from '../../components/drawer';
import type { Loaded } from '../../components/use_answer';
import { latest } from '../../components/use_answer';
import { Failed, Loading } from '../../components/notice';
import type { ViewContext } from '../view';
import { Aside, Jump, Soft } from '../../components/plain';

/** Fields that have a place of their own, or none. */
const PLACED = new Set([
  'id',
  'name',
  'track',
  'lane',
  'begin_ns',
  'duration_ns',
  'end_ns',
  'self_ns',
  'total_ns',
  'category',
  'arguments',
  'stack',
  'links',
  'link_names',
  'launch_config',
  'class',
]);

const LINK_TITLES: Readonly<Record<string, string>> = {
  launch: 'Launched by',
  kernels: 'Launched',
  operator: 'Operator',
  module: 'Module',
  forward: 'Forward',
  backward: 'Backward',
  previous: 'Previous of this name',
  next: 'Next of this name',
  slowest: 'Slowest of this name',
  parent: 'Inside of',
};

export function plainText(key: string, value: unknown): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number') {
    if (/_ns$/.test(key)) return durationText(value);
    if (/bytes$/i.test(key)) return bytesText(value);
    if (/percent$/.test(key)) return percentText(value);
    return Number.isInteger(value) ? String(value) : realText(value);
  }
  if (typeof value === 'object') return JSON.stringify(value);
  return String(value);
}

function Fields(props: { title: string; fields: Readonly<Record<string, unknown>> }) {
  const entries = Object.entries(props.fields).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  if (entries.length === 0) return null;
  return (
    <section>
      <h3>{props.title}</h3>
      <dl class="fields">
        {entries.map(([key, value]) => (
          <div key={key}>
            <dt>{key.replaceAll('_', ' ').replace(/ (ns|bytes|percent)$/, '')}</dt>
            <dd>{plainText(key, value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Links(props: { slice: SliceAnswer; onPick: (slice: number) => void }) {
  const entries = Object.entries(props.slice.links ?? {}).flatMap(([kind, end]) => {
    const ends = (Array.isArray(end) ? end : end === null ? [] : [end]) as readonly LinkEnd[];
    return ends.length === 0 || /_total$/.test(kind) ? [] : [{ kind, ends }];
  });
  if (entries.length === 0) return null;
  return (
    <section>
      <h3>Goes with</h3>
      <dl class="fields">
        {entries.map(({ kind, ends }) => (
          <div key={kind}>
            <dt>{LINK_TITLES[kind] ?? kind}</dt>
            <dd>
              {ends.slice(0, 12).map((end) => {
                const name =
                  (typeof end === 'number' ? undefined : end.name) ??
                  props.slice.link_names?.[kind] ??
                  '';
                const time =
                  typeof end === 'number' || end.duration_ns === undefined
                    ? ''
                    : durationText(end.duration_ns);
                return (
                  <Jump key={idOf(end)} title={name} onClick={() => props.onPick(idOf(end))}>
                    {name || 'show'} {time && <Aside>{time}</Aside>}
                  </Jump>
                );
              })}
              {ends.length > 12 && <Aside>and {ends.length - 12} more</Aside>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

export function SliceDrawer(props: {
  loaded: Loaded<SliceAnswer>;
  flowsLeftOff: number;
  context: ViewContext;
  onPick: (slice: number) => void;
  onEnd: () => void;
  onOnly: (() => void) | null;
  only: boolean;
}) {
  const { loaded, context } = props;
  const slice = latest(loaded);
  return (
    <Drawer label="Selected slice" title="Slice" onEnd={props.onEnd}>
      <Failed what="No details" of={loaded} />
      {!slice && loaded.state === 'loading' && <Loading what="Looking it up" />}
      {slice && (
        <>
          <p class="slice-name">{slice.name}</p>
          <p class="slice-time">
            <b>{durationText(slice.duration_ns)}</b>
            {typeof slice.self_ns === 'number' && slice.self_ns !== slice.duration_ns && (
              <span> self {durationText(slice.self_ns)}</span>
            )}
            <Aside> from {durationText(slice.begin_ns)}</Aside>
            {slice.category && <Aside> · {slice.category}</Aside>}
          </p>
          <p class="actions">
            <button
              onClick={() =>
                context.showTime(slice.begin_ns, slice.begin_ns + slice.duration_ns, slice.id)
              }
            >
              Fit
            </button>
            {props.onOnly && (
              <button aria-pressed={props.only} onClick={props.onOnly}>
                Dim other names
              </button>
            )}
            <button onClick={() => context.tryChanges([halved(slice.name, slice['kind'])])}>
              Try halving it
            </button>
          </p>
          <Links slice={slice} onPick={props.onPick} />
          {props.flowsLeftOff > 0 && <Soft>{props.flowsLeftOff} arrows are not drawn.</Soft>}
          {typeof slice['launch_config'] === 'object' && slice['launch_config'] !== null && (
            <Fields
              title="Launch configuration"
              fields={slice['launch_config'] as Readonly<Record<string, unknown>>}
            />
          )}
          <Fields
            title="Recorded with it"
            fields={{
              ...Object.fromEntries(Object.entries(slice).filter(([key]) => !PLACED.has(key))),
              ...Object.fromEntries((slice.arguments ?? []).map(({ key, value }) => [key, value])),
            }}
          />
          {slice.stack && (
            <section>
              <h3>Python stack</h3>
              <ol class="python-stack">
                {slice.stack.split(/[;\n]/).map((frame, i) => (
                  <li key={i}>{frame}</li>
                ))}
              </ol>
            </section>
          )}
        </>
      )}
    </Drawer>
  );
}
