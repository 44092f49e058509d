// A dialog that is open for as long as it is there.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CloseButton } from '../components/close_button';

export function Dialog(props: {
  title: string;
  class?: string;
  onEnd: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class={props.class} aria-labelledby="dialog" onClose={props.onEnd}>
      <header>
        <h2 id="dialog">{props.title}</h2>
        <CloseButton onEnd={() => dialog.current?.close()} />
      </header>
      {props.children}
    </dialog>
  );
}
