// Mounts a component as a view.
import { render } from 'preact';
import type { Part, ViewContext } from './view';

export const mounted =
  (Component: Part) =>
  (host: HTMLElement, context: ViewContext): void => {
    render(<Component context={context} />, host);
    context.signal.addEventListener('abort', () => render(null, host), { once: true });
  };
