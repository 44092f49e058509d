// Closes a drawer or a dialog.
import { Quiet } from './plain';
export function CloseButton(props: { what?: string; onEnd: () => void }) {
  return (
    <Quiet aria-label={`Close${props.what ?? ''}`} onClick={props.onEnd}>
      ×
    </Quiet>
  );
}
