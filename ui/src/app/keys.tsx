// The keys of the page, in a dialog.
import { Dialog } from './dialog';

const KEYS: readonly (readonly [
  title: string,
  keys: readonly (readonly [key: string, what: string])[],
])[] = [
  [
    'Everywhere',
    [
      ['1 … 7', 'the views'],
      ['X', 'what-if drawer'],
      ['?', 'this list'],
      ['Esc', 'close, or clear the selection'],
    ],
  ],
  [
    'Timeline',
    [
      ['W S', 'zoom in, out'],
      ['A D', 'move left, right'],
      ['Ctrl + wheel', 'zoom; Shift + wheel moves'],
      ['drag', 'select an area; Shift + drag moves'],
      ['← →', 'neighbour in the lane'],
      ['↑ ↓', 'lane above, below'],
      ['[ ]', 'launch, and what it launched'],
      [', .', 'previous and next slice of the same name'],
      ['F', 'fit the selection, or all'],
      ['Backspace', 'zoom back'],
      ['R', 'select the area of the slice'],
      ['M', 'mark this time, or remove its mark'],
      ['N', 'a note at this time; empty, it goes'],
      ['P', 'pin the track'],
      ['C', 'critical path'],
      ['/', 'search; Enter goes to the next hit'],
    ],
  ],
  [
    'Tables',
    [
      ['↑ ↓', 'rows'],
      ['Enter', 'show the row in the timeline'],
    ],
  ],
];

export function Keys(props: { onEnd: () => void }) {
  return (
    <Dialog title="Keys" class="keys" onEnd={props.onEnd}>
      <div class="key-columns">
        {KEYS.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
