// Buttons of which one is pressed.
import type { ComponentChildren } from 'preact';

export function Tabs<Choice extends string>(props: {
  label: string;
  choices: readonly Choice[];
  chosen: Choice;
  /** What stands before a choice: "By". */
  word: string;
  onChoose: (choice: Choice) => void;
  children?: ComponentChildren;
}) {
  return (
    <div class="tabs" role="group" aria-label={props.label}>
      {props.choices.map((choice) => (
        <button
          key={choice}
          aria-pressed={choice === props.chosen}
          onClick={() => props.onChoose(choice)}
        >
          {props.word} {choice}
        </button>
      ))}
      {props.children}
    </div>
  );
}
