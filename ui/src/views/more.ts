// What few begin with: fetched when it is first wanted. Views by their ids, the drawer of what-if, and the reader of a
// page that was written to a file.
import { compare } from './compare/view';
import { flame } from './flame/view';
import { memory } from './memory/view';
import { ranks } from './ranks/view';

export { unpackCarried } from '../api/answers';
export { WhatIfDrawer } from './what_if/drawer';
export const MORE = { compare, flame, memory, ranks };
