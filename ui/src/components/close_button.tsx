// Closes a drawer or a dialog.
export function CloseButton(props: { what?: string; onClose: () => void }) {
  return (
    <button class="quiet" aria-label={`Close${props.what ?? ''}`} onClick={props.onClose}>
      ×
    </button>
  );
}
