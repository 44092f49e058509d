// Every view, in the order of the keys 1 to 7. To add one: its import, and its place in the list.
import { compare } from './compare/view';
import { diagnosis } from './diagnosis/view';
import { flame } from './flame/view';
import { memory } from './memory/view';
import { ranks } from './ranks/view';
import { tables } from './tables/view';
import { timeline } from './timeline/view';
import type { View } from './view';

export const ALL_VIEWS: readonly View[] = [
  diagnosis,
  timeline,
  tables,
  flame,
  memory,
  ranks,
  compare,
];
