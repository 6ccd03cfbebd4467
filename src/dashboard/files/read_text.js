/** Byte order marks and their encodings. @type {[number[], string][]} */
const BYTE_ORDER_MARKS = [[[0xff, 0xfe], "utf-16le"], [[0xfe, 0xff], "utf-16be"]];

/**
 * The text of a file: UTF-8, or UTF-16 with a byte order mark. `undefined` if it is not text.
 *
 * @param {Blob} blob
 * @returns {Promise<string | undefined>}
 */
export async function readText(blob) {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const encoding = BYTE_ORDER_MARKS.find(([mark]) =>
    mark.every((byte, index) => bytes[index] === byte)
  )?.[1];
  if (encoding === undefined && bytes.subarray(0, 4096).includes(0)) return undefined;
  return new TextDecoder(encoding ?? "utf-8").decode(bytes);
}
