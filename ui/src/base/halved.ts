// The change that halves the time of what a slice is one of.
import { exactPattern } from './text';
import type { Change } from './view_state';

/** What runs on the device is named by a pattern: a plain name is one of the host. */
export const halved = (name: string, kind: unknown): Change => [
  'scale',
  `${/^(kernel|memcpy|memset)$/.test(String(kind)) ? `kernel:${exactPattern(name)}` : name}=0.5`,
];
