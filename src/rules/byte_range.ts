/** Bytes `start` (included) to `end` (excluded) of a file. */
export interface ByteRange {
  start: number;
  end: number;
}

/**
 * What a `Range` header asks of a file of `size` bytes (RFC 9110, 14.1.2 and 14.2): a range, `"unsatisfiable"`, or
 * `undefined` where the header is to be ignored: another unit, several ranges, or not well formed.
 */
export function parseRange(
  header: string | null,
  size: number,
): ByteRange | "unsatisfiable" | undefined {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (match === null) return undefined;
  const [, first = "", last = ""] = match;
  if (first === "") return last === "" ? undefined : suffix(Number(last), size);
  const start = Number(first);
  if (last !== "" && isBefore(last, first)) return undefined;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(Number(last) + 1, size) };
}

/** Compares digits as numbers of any length, which a double would round. */
function isBefore(a: string, b: string): boolean {
  return BigInt(a) < BigInt(b);
}

/** "bytes=-500" is the last 500 bytes; all of a shorter file. */
function suffix(length: number, size: number): ByteRange | "unsatisfiable" | undefined {
  if (length === 0) return "unsatisfiable";
  // The whole of nothing cannot be said in `Content-Range`: the file is answered as without the header.
  if (size === 0) return undefined;
  return { start: Math.max(0, size - length), end: size };
}
