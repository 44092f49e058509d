// The diagnosis of what the scope selects; of several ranks, that of the one that is shown.
import type { TraceClient } from '../api/client';
import type { Diagnosis } from '../api/types';
import { DIAGNOSIS_SCOPE, pathOf, scopeOptions } from '../api/urls';
import type { Scope } from '../base/scope';
import { latest, useAnswer, type Loaded } from './use_answer';

export function useDiagnosis(
  client: TraceClient,
  scope: Scope,
): readonly [loaded: Loaded<Diagnosis | Diagnosis[]>, diagnosis: Diagnosis | null | undefined] {
  const loaded = useAnswer<Diagnosis | Diagnosis[]>(
    client,
    pathOf('api/diagnosis', scopeOptions(scope, DIAGNOSIS_SCOPE)),
  );
  const answer = latest(loaded);
  return [loaded, Array.isArray(answer) ? answer[0] : answer];
}
