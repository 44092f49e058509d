// Arrows of a slice, with the places of their ends.
import type { TraceClient } from './client';
import { idOf, type FlowsAnswer, type LinkEnd, type SliceAnswer, type SliceRef } from './types';
import { pathOf } from './urls';

/** Ends whose place is asked for; of more arrows, the rest is counted as left off. */
const MOST_ENDS = 40;

async function placed(
  client: TraceClient,
  end: LinkEnd,
  signal: AbortSignal,
): Promise<SliceRef | null> {
  if (typeof end !== 'number') return end;
  const answer = await client.json<SliceAnswer>(pathOf('api/slice', [['id', end]]), signal);
  return answer.ok ? answer.value : null;
}

/** `own` is the slice that is asked about; null where nothing was answered. */
export async function flowsOf(
  client: TraceClient,
  own: SliceAnswer,
  signal: AbortSignal,
): Promise<FlowsAnswer | null> {
  const answer = await client.json<FlowsAnswer>(pathOf('api/flows', [['id', own.id]]), signal);
  if (!answer.ok) return null;
  const ends = new Map<number, LinkEnd>([[own.id, own]]);
  for (const flow of answer.value.flows) {
    for (const end of [flow.from, flow.to]) if (!ends.has(idOf(end))) ends.set(idOf(end), end);
  }
  const asked = [...ends.values()].slice(0, MOST_ENDS);
  const places = new Map<number, SliceRef>();
  for (const place of await Promise.all(asked.map((end) => placed(client, end, signal)))) {
    if (place) places.set(place.id, place);
  }
  const flows = answer.value.flows.flatMap((flow) => {
    const from = places.get(idOf(flow.from));
    const to = places.get(idOf(flow.to));
    return from && to ? [{ from, to, kind: flow.kind }] : [];
  });
  return { flows, left_off: answer.value.left_off + answer.value.flows.length - flows.length };
}
