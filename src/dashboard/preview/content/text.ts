export interface Decoded {
  text: string;
  encoding: "UTF-8" | "UTF-16" | "Latin-1";
}

/** Decodes bytes that may be cut anywhere at their end. Returns `undefined` if they are no text. */
export function decode(bytes: Uint8Array): Decoded | undefined {
  const mark = markOf(bytes);
  if (mark !== undefined) {
    const text = new TextDecoder(mark).decode(bytes, { stream: true });
    return { text, encoding: mark === "utf-8" ? "UTF-8" : "UTF-16" };
  }
  if (hasControls(bytes)) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return { text, encoding: "UTF-8" };
  } catch {
    // The most common encoding of old files.
    return { text: new TextDecoder("windows-1252").decode(bytes), encoding: "Latin-1" };
  }
}

/** Whether bytes are a text rather than other data. */
export function isText(bytes: Uint8Array): boolean {
  const decoded = decode(bytes);
  if (decoded === undefined) return false;
  if (decoded.encoding !== "Latin-1") return true;
  // Random bytes are letters of Latin-1, too: in a text few of them are outside of ASCII.
  const others = bytes.reduce((count, byte) => count + (byte > 127 ? 1 : 0), 0);
  return others < bytes.length * 0.2;
}

/** The encoding that a byte order mark names. */
function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** Whether there are control characters that no text has: tabs, line ends, form feeds and escapes may occur. */
function hasControls(bytes: Uint8Array): boolean {
  return bytes.some((byte) => byte < 32 && !(byte >= 8 && byte <= 13) && byte !== 27);
}

/** Splits a text into lines, each with its line end. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}
