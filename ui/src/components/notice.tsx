// What stands in place of a view that has nothing to show: the reason, and what to do.
import type { ComponentChildren } from 'preact';
import type { Failure } from '../base/result';

export function Empty(props: { title: string; children?: ComponentChildren; remedy?: string }) {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children}
      {props.remedy && (
        <p>
          <span class="soft">To record it: </span>
          <code>{props.remedy}</code>
        </p>
      )}
    </div>
  );
}

export function Failed(props: { what: string; error: Failure }) {
  return (
    <div class="empty" role="alert">
      <h2>{props.what}</h2>
      <p>{props.error.message}</p>
    </div>
  );
}

export function Loading(props: { what: string }) {
  return (
    <p class="loading" role="status">
      {props.what}…
    </p>
  );
}
