// The scope as chips: what is looked at, the same in all views.
import { useState } from 'preact/hooks';
import { durationText } from '../base/format';
import { parseWindow, SCOPE_KEYS, WHOLE } from '../base/scope';
import type { SessionInfo } from '../api/types';
import { viewCommand } from '../api/urls';
import { encodeState } from '../base/view_state';
import { CopyButton } from '../components/copy_button';
import { useStore } from '../components/use_store';
import type { ViewContext } from '../views/view';
import { Aside, Quiet } from '../components/plain';

const LABELS: Readonly<Record<string, string>> = {
  steps: 'steps',
  device: 'device',
  window: 'window',
  focus: 'focus',
  input: 'recording',
};

function shown(key: string, value: string, session: SessionInfo): string {
  if (key === 'input') return session.inputs?.[Number(value)]?.name.split('/').at(-1) ?? value;
  if (key !== 'window' || !session.range) return value;
  const window = parseWindow(value, {
    begin: 0,
    end: (session.span ?? session.range).end_ns - (session.span?.begin_ns ?? 0),
  });
  return window
    ? `${durationText(window.begin)} + ${durationText(window.end - window.begin)}`
    : value;
}

function deviceChoices(session: SessionInfo): string[] {
  return (session.devices ?? []).map((device) => String(device.device));
}

export function ScopeBar(props: { context: ViewContext }) {
  const { context } = props;
  const { scope } = useStore(context.state, 'scope');
  const [steps, setSteps] = useState('');
  const devices = deviceChoices(context.session);
  const inputs = context.session.inputs ?? [];
  const set = SCOPE_KEYS.filter((key) => scope[key] !== '');
  return (
    <section class="scope" aria-label="Scope">
      <span class="soft scope-word">Scope</span>
      {set.length === 0 && <span class="chip whole">whole recording</span>}
      {set.map((key) => (
        <span class="chip" key={key}>
          <Aside>{LABELS[key]}</Aside> {shown(key, scope[key], context.session)}
          <button
            aria-label={`Remove ${LABELS[key]} ${scope[key]}`}
            onClick={() => context.setScope({ [key]: '' })}
          >
            ×
          </button>
        </span>
      ))}
      {(context.session.steps ?? []).length > 1 && scope.steps === '' && (
        <form
          class="steps-form"
          onSubmit={(event) => {
            event.preventDefault();
            if (/^\d*(-\d*)?$/.test(steps) && /\d/.test(steps)) context.setScope({ steps });
            setSteps('');
          }}
        >
          <input
            type="text"
            size={7}
            value={steps}
            aria-label="Steps, for example 3-7"
            placeholder="steps 3-7"
            onInput={(event) => setSteps(event.currentTarget.value)}
          />
        </form>
      )}
      {devices.length > 1 && scope.device === '' && (
        <select
          aria-label="Device"
          onChange={(event) => context.setScope({ device: event.currentTarget.value })}
        >
          <option value="">all devices</option>
          {devices.map((device) => (
            <option key={device} value={device}>
              device {device}
            </option>
          ))}
        </select>
      )}
      {inputs.length > 1 && (
        <select
          aria-label="Recording"
          value={scope.input || '0'}
          onChange={(event) => {
            const { value } = event.currentTarget;
            context.go({ slice: null, area: null, visible: null });
            context.setScope({ ...WHOLE, input: value === '0' ? '' : value });
          }}
        >
          {inputs.map((input) => (
            <option key={input.index} value={String(input.index)}>
              {input.rank === null ? input.name.split('/').at(-1) : `rank ${input.rank}`}
            </option>
          ))}
        </select>
      )}
      {set.length > 1 && <Quiet onClick={() => context.setScope(WHOLE)}>Clear</Quiet>}
      <span class="grow" />
      <CopyButton
        label="Copy as view"
        title="Copy the command that opens this picture, on any machine that has the recording"
        text={() => viewCommand(context.state.value, context.session)}
      />
      <CopyButton
        label="Copy link"
        title="Copy the address of this picture, for this browser while the server runs"
        text={() => `${location.href.split('#')[0]}#${encodeState(context.state.value)}`}
      />
    </section>
  );
}
