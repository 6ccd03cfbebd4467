/** Most that `crypto.getRandomValues` fills at once. */
const AT_ONCE = 65_536;

/** Bytes that nothing can compress. */
export function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (let at = 0; at < size; at += AT_ONCE) {
    crypto.getRandomValues(bytes.subarray(at, at + AT_ONCE));
  }
  return bytes;
}
