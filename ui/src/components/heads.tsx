// The first row of a small table. A title that begins with "#" stands over numbers.
export function Heads(props: { titles: readonly string[] }) {
  return (
    <thead>
      <tr>
        {props.titles.map((title) => (
          <th key={title} scope="col" class={title.startsWith('#') ? 'number' : undefined}>
            {title.replace('#', '')}
          </th>
        ))}
      </tr>
    </thead>
  );
}
