import { createHash } from "node:crypto";

/** The SHA-256 of bytes, in base64. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** The same of bytes that come in pieces. */
export async function digestOfAll(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("base64");
}

/** A short name that is the same for the same texts, and for no others. */
export function nameFor(...texts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(texts)).digest("hex").slice(0, 32);
}
