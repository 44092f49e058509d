// Which kinds of columns hold numbers.
const NUMBERS = new Set(['integer', 'count', 'duration_ns', 'time_ns', 'bytes', 'real', 'percent']);

export const isNumber = (column: { readonly kind: string }): boolean => NUMBERS.has(column.kind);
