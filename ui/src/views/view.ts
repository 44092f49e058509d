// What a view is, and what it is given. A new view is a folder and two lines in all.ts.
import type { ComponentChild } from 'preact';
import type { TraceClient } from '../api/client';
import type { SessionInfo } from '../api/types';
import type { Scope } from '../base/scope';
import type { Store } from '../base/store';
import type { Change, ViewState } from '../base/view_state';

export interface ViewContext {
  readonly client: TraceClient;
  readonly session: SessionInfo;
  readonly state: Store<ViewState>;
  /** Ends when the view is left. */
  readonly signal: AbortSignal;
  /** Changes the state; a change of view becomes a step of the browser's history. */
  readonly go: (change: Partial<ViewState>) => void;
  readonly setScope: (change: Partial<Scope>) => void;
  /** Where tables, findings and --window begin to count, in the timeline's time. */
  readonly origin: number;
  /** Opens the timeline at some time, at a slice, or both. */
  readonly showTime: (begin: number, end: number, slice?: number) => void;
  readonly showSlice: (slice: number) => void;
  /** Opens the timeline with all slices of this name found. */
  readonly showName: (name: string) => void;
  /** Opens the what-if drawer with these changes. */
  readonly tryChanges: (changes: readonly Change[]) => void;
}

export interface View {
  readonly id: string;
  readonly title: string;
  /** Draws into `host` until the signal ends. Called again with the same host when the session tells more. */
  readonly mount: (host: HTMLElement, context: ViewContext) => void;
}

/** A view that is a component. */
export type Part = (props: { context: ViewContext }) => ComponentChild;
