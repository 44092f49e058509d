// What stands beside a view for as long as something is selected.
import type { ComponentChildren } from 'preact';
import { CloseButton } from './close_button';

export function Drawer(props: {
  label: string;
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  return (
    <aside class="drawer" aria-label={props.label}>
      <header>
        <h2>{props.title}</h2>
        <CloseButton onClose={props.onClose} />
      </header>
      {props.children}
    </aside>
  );
}
