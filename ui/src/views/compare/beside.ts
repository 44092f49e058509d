// Where two timelines beside each other may be looked at.
import type { Span } from '../../components/timeline/viewport';

/**
 * Of either recording the times in which one of both has something, where the second is `shift` later than the first.
 * Both are as long, so that neither stops before the other when one zooms out or moves to an end.
 */
export function boundsBeside(
  base: Span,
  next: Span,
  shift: number,
): { readonly base: Span; readonly next: Span } {
  const begin = Math.min(base.begin, next.begin - shift);
  const end = Math.max(base.end, next.end - shift);
  return { base: { begin, end }, next: { begin: begin + shift, end: end + shift } };
}
