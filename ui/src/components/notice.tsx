// What stands in place of a view that has nothing to show: the reason, and what to do.
import type { ComponentChildren } from 'preact';
import type { Loaded } from './use_answer';
import { Aside } from './plain';

export function Empty(props: { title: string; children?: ComponentChildren; remedy?: string }) {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children}
      {props.remedy && (
        <p>
          <Aside>To see it: </Aside>
          <code>{props.remedy}</code>
        </p>
      )}
    </div>
  );
}

/** Nothing, unless the answer failed. */
export function Failed(props: { what: string; of: Loaded<unknown> }) {
  return props.of.state === 'failed' ? (
    <div class="empty" role="alert">
      <h2>{props.what}</h2>
      <p>{props.of.error.message}</p>
    </div>
  ) : null;
}

export function Loading(props: { what: string }) {
  return (
    <p class="loading" role="status">
      {props.what}…
    </p>
  );
}
