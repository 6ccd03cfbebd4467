/** Bytes `start` (included) to `end` (excluded) of a file. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * Parses a `Range` header (RFC 9110, 14.1.2 and 14.2) for a file of `size` bytes.
 *
 * @returns The range, cut to the file's end; `"unsatisfiable"` if the file has none of its bytes (416); `undefined` if
 * the header is absent or to be ignored: another unit, several ranges, or malformed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(parseRange("bytes=500-999", 800), { start: 500, end: 800 });
 * assertEquals(parseRange("bytes=-100", 800), { start: 700, end: 800 });
 * assertEquals(parseRange("bytes=800-", 800), "unsatisfiable");
 * assertEquals(parseRange("bytes=0-1,5-6", 800), undefined);
 * ```
 */
export function parseRange(
  header: string | null,
  size: number,
): ByteRange | "unsatisfiable" | undefined {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") return last === "" ? undefined : suffixRange(Number(last), size);
  // "An int-range is invalid if the last-pos value is present and less than first-pos." Doubles would round long
  // numbers.
  if (last !== "" && BigInt(last) < BigInt(first)) return undefined;
  const start = Number(first);
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(Number(last) + 1, size) };
}

/**
 * `bytes=-500`: "If the selected representation is shorter than the specified suffix-length, the entire representation
 * is used."
 */
function suffixRange(length: number, size: number): ByteRange | "unsatisfiable" | undefined {
  if (length === 0) return "unsatisfiable";
  // `Content-Range` cannot express the whole of an empty file, so the header is ignored and the answer is 200.
  if (size === 0) return undefined;
  return { start: Math.max(0, size - length), end: size };
}
