// A button that copies text and shows that it did.
import { useRef, useState } from 'preact/hooks';
import { Quiet } from './plain';

/** Old browsers and pages in files have no clipboard to write to: then the text is selected, to be copied by hand. */
async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
  }
}

export function CopyButton(props: { label: string; text: () => string; title?: string }) {
  const [said, setSaid] = useState('');
  const timer = useRef(0);
  const press = async (): Promise<void> => {
    setSaid((await copy(props.text())) ? 'Copied' : 'Not copied');
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(''), 1500) as unknown as number;
  };
  return (
    <Quiet title={props.title ?? props.text()} onClick={() => void press()}>
      <span aria-live="polite">{said || props.label}</span>
    </Quiet>
  );
}

/** Copies the command line that says what a view shows. */
export const CopyCommand = (props: { text: () => string }) => (
  <CopyButton label="Copy as command" text={props.text} />
);

/** A command line, and a button that copies it. */
export function CommandLine(props: { command: string }) {
  return (
    <div class="command">
      <code tabIndex={0}>{props.command}</code>
      <CopyButton label="Copy" text={() => props.command} title="Copy this command" />
    </div>
  );
}
