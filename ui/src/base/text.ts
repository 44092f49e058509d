// Text for other programs: CSV cells, words of a shell, and names that fit a place.

/** A cell of CSV, quoted where it must be. */
export function csvCell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csvText(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): string {
  const lines = [columns.map(csvCell).join(',')];
  for (const row of rows) lines.push(columns.map((name) => csvCell(row[name])).join(','));
  return lines.join('\n') + '\n';
}

/** A word that a POSIX shell takes as it is. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-][\w@%+=:,./~-]*$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A regular expression that matches exactly this text. */
export function exactPattern(text: string): string {
  return `^${text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`;
}

/** At most `most` characters, shortened in the middle: the ends of names tell them apart. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${text.slice(0, head)}…${text.slice(text.length - (most - 1 - head))}`;
}
