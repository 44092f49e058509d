// The critical path of a stretch, and what of it is lit.
import type { LinkEnd } from './types';

export interface CriticalPathAnswer {
  readonly slices: readonly LinkEnd[];
  /** Pieces beyond what one answer holds. */
  readonly left_off: number;
}

export function saidOfPath(path: CriticalPathAnswer): string {
  const said = `Critical path: ${path.slices.length} slices`;
  return path.left_off > 0
    ? `${said}; ${path.left_off} later pieces are not lit: zoom in and ask again`
    : said;
}
