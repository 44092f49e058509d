// The marks of the timeline as a list: to go to one, to name it, to remove it.
import { useState } from 'preact/hooks';
import { durationText } from '../../base/format';
import type { Mark } from '../../base/view_state';
import type { ViewContext } from '../view';
import { Quiet } from '../../components/plain';

export function MarkList(props: {
  marks: readonly Mark[];
  context: ViewContext;
  onShow: (at: number) => void;
}) {
  const { marks, context } = props;
  const [open, setOpen] = useState(false);
  if (marks.length === 0) return null;
  const put = (old: Mark, label: string): void =>
    context.go({
      marks: marks.flatMap((each) =>
        each !== old ? [each] : label === '' ? [] : [{ at: old.at, label }],
      ),
    });
  return (
    <div class="marks">
      <Quiet aria-expanded={open} onClick={() => setOpen(!open)}>
        Marks ({marks.length})
      </Quiet>
      {open && (
        <ul class="search-names">
          {[...marks]
            .sort((a, b) => a.at - b.at)
            .map((mark) => (
              <li key={mark.at}>
                <input
                  value={mark.label}
                  aria-label={`Name of the mark at ${durationText(mark.at)}`}
                  onChange={(event) => put(mark, event.currentTarget.value.trim())}
                />
                <Quiet onClick={() => props.onShow(mark.at)}>Show {durationText(mark.at)}</Quiet>
                <Quiet aria-label={`Remove ${mark.label}`} onClick={() => put(mark, '')}>
                  ×
                </Quiet>
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
