// The views that few begin with, by their ids: fetched when one of them is first shown.
import { compare } from './compare/view';
import { flame } from './flame/view';
import { memory } from './memory/view';
import { ranks } from './ranks/view';

export const MORE = { compare, flame, memory, ranks };
