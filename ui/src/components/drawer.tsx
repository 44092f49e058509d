// What stands beside a view for as long as something is selected.
import type { ComponentChildren } from 'preact';
import { CloseButton } from './close_button';

export function Drawer(props: {
  label: string;
  title: string;
  onEnd: () => void;
  children: ComponentChildren;
}) {
  return (
    <aside class="drawer" aria-label={props.label}>
      <header>
        <h2>{props.title}</h2>
        <CloseButton onEnd={props.onEnd} />
      </header>
      {props.children}
    </aside>
  );
}
