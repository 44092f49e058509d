// The elements that views are made of most: one name for a tag and its class.
import type { ComponentChildren, JSX } from 'preact';
import { Heads } from './heads';

/** What records the memory of PyTorch programs. */
export const RECORD_MEMORY = 'torch.profiler.profile(profile_memory=True)';

type Some = {
  key?: string | number;
  class?: string;
  title?: string | undefined;
  children?: ComponentChildren;
};

const plain = (Tag: 'p' | 'span' | 'td' | 'th', what: object) => (props: Some) => (
  <Tag {...what} {...props} />
);

/** What stands back behind the numbers. */
export const Soft = plain('p', { class: 'soft' });
export const Aside = plain('span', { class: 'soft' });
/** Of small tables: a cell with a number, and the first cell of a row. */
export const Num = plain('td', { class: 'number' });
export const RowHead = plain('th', { scope: 'row' });

/** A table that is whole in the document. */
export const Small = (props: {
  class?: string;
  caption?: string;
  heads?: readonly string[];
  children: ComponentChildren;
}) => (
  <table class={props.class ?? 'plain'}>
    {props.caption && <caption>{props.caption}</caption>}
    {props.heads && <Heads titles={props.heads} />}
    <tbody>{props.children}</tbody>
  </table>
);

type Button = JSX.IntrinsicElements['button'];

/** A button beside what is looked at, and one that leads to another place. */
export const Quiet = (props: Button) => <button class="quiet" {...props} />;
export const Jump = (props: Button) => <button class="jump" {...props} />;

/** A part of a view under a heading. */
export function Section(props: { id: string; title: string; children: ComponentChildren }) {
  return (
    <section aria-labelledby={props.id}>
      <h2 id={props.id}>{props.title}</h2>
      {props.children}
    </section>
  );
}

/** The line above a view: its heading, and at the end what can be done with it. */
export function Toolbar(props: { title: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="toolbar">
      <h2>{props.title}</h2>
      <span class="grow" />
      {props.children}
    </div>
  );
}

/** A word that leads to its definition, which the shell shows; or, with `lead`, to where it is. */
export function Term(props: {
  id: string;
  lead?: (word: string) => void;
  children?: ComponentChildren;
}) {
  const { id, lead } = props;
  return (
    <button class="term" data-term={lead ? undefined : id} onClick={lead && (() => lead(id))}>
      {props.children ?? props.id}
    </button>
  );
}
