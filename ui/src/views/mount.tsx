// Mounts a component as a view.
import { atEnd } from '../base/listen';
import { render } from 'preact';
import type { Part, ViewContext } from './view';

export const mounted =
  (Component: Part) =>
  (host: HTMLElement, context: ViewContext): void => {
    render(<Component context={context} />, host);
    atEnd(context.signal, () => render(null, host));
  };
