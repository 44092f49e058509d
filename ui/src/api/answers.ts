// Answers that the page carries itself: a page that was written to a file has no server.
export interface Carried {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly left_out: readonly string[];
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const out = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) out[i] = binary.charCodeAt(i);
  return out;
}

/** Base64 of gzip of JSON. */
export async function unpackCarried(text: string): Promise<Carried> {
  const packed = new Blob([fromBase64(text)]).stream();
  const plain = packed.pipeThrough(new DecompressionStream('gzip'));
  return (await new Response(plain).json()) as Carried;
}
