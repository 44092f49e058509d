// The diagnosis of a scope, as a hook. Of several inputs the answer is a list; the page is about its first one.
import { useEffect } from 'preact/hooks';
import type { TraceClient } from '../api/client';
import type { Diagnosis } from '../api/types';
import { DIAGNOSIS_SCOPE, pathOf, scopeOptions } from '../api/urls';
import type { Scope } from '../base/scope';
import { greyHarmed } from './harm';
import { latest, useAnswer, type Loaded } from './use_answer';

/** `scope` null is all; what its failed checks harm is greyed, wherever it is shown. */
export function useDiagnosis(
  client: TraceClient,
  scope: Scope | null,
  other?: 'other' | 'none',
): readonly [loaded: Loaded<Diagnosis | Diagnosis[]>, diagnosis: Diagnosis | null | undefined] {
  const loaded = useAnswer<Diagnosis | Diagnosis[]>(
    client,
    other === 'none'
      ? null
      : pathOf('api/diagnosis', scope ? scopeOptions(scope, DIAGNOSIS_SCOPE) : []),
  );
  const answer = latest(loaded);
  const diagnosis = Array.isArray(answer) ? answer[0] : answer;
  useEffect(() => {
    if (diagnosis) greyHarmed(diagnosis, other !== undefined);
  }, [diagnosis]);
  return [loaded, diagnosis];
}
