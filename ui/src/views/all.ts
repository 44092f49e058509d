// Every view, in the order of the keys 1 to 7. To add one: its import, and its place in the list; or both in more.ts
// and its title here.
import { diagnosis } from './diagnosis/view';
import { fetchMore } from './fetch_more';
import type { MORE } from './more';
import { tables } from './tables/view';
import { timeline } from './timeline/view';
import type { View } from './view';

const fetched = (id: keyof typeof MORE, title: string): View => ({
  id,
  title,
  mount: (host, context) => {
    void fetchMore()
      .then((more) => !context.signal.aborted && more.MORE[id](host, context))
      .catch(() => {
        host.textContent = 'The server does not answer; is fathom view still running?';
      });
  },
});

export const ALL_VIEWS: readonly View[] = [
  diagnosis,
  timeline,
  tables,
  fetched('flame', 'Flame graph'),
  fetched('memory', 'Memory'),
  fetched('ranks', 'Ranks'),
  fetched('compare', 'Compare'),
];
