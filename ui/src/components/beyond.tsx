// Says where a view shows more than the scope selects.
import { beyondScope, type Scope } from '../base/scope';

export function Beyond(props: { scope: Scope; known: readonly (keyof Scope)[] }) {
  const text = beyondScope(props.scope, props.known);
  return text === '' ? null : <p class="soft beyond">{text}</p>;
}
