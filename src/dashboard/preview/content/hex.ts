/** A line of bytes. */
export interface HexLine {
  offset: string;
  hex: string;
  ascii: string;
}

/** Returns bytes as lines of hexadecimal digits with what they are in ASCII. @param width Bytes of a line. */
export function hexLines(bytes: Uint8Array, width: number): HexLine[] {
  const lines: HexLine[] = [];
  for (let start = 0; start < bytes.length; start += width) {
    const line = [...bytes.subarray(start, start + width)];
    lines.push({
      offset: start.toString(16).padStart(8, "0"),
      hex: line.map((byte) => byte.toString(16).padStart(2, "0")).join(" "),
      ascii: line.map((byte) => byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".").join(""),
    });
  }
  return lines;
}
