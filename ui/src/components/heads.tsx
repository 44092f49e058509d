// The first row of a small table. A title that begins with "#" stands over numbers; behind "@" is the word that defines it.
import { Term } from './plain';

export function Heads(props: { titles: readonly string[] }) {
  return (
    <thead>
      <tr>
        {props.titles.map((title) => {
          const [text, term] = title.replace('#', '').split('@');
          return (
            <th key={title} scope="col" class={title.startsWith('#') ? 'number' : undefined}>
              {term ? <Term id={term}>{text}</Term> : text}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
