// JSON whose integers may have more digits than a number of JavaScript holds: such a one becomes its digits, as text.
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

export function exactJson(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  const exact = text.replace(STRING_OR_NUMBER, (token) =>
    /^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)) ? `"${token}"` : token,
  );
  return JSON.parse(exact);
}
