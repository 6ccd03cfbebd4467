import { useMemo, useState } from "preact/hooks";
import { useBeginning } from "../content/beginning.ts";
import { Shown, type ViewProps } from "./problem.tsx";
import { Sheet } from "./sheet.tsx";

/** Bytes that are read and shown at once. */
const STEP = 16 * 1024;
/** Narrower windows show fewer bytes in a line, in pixels. */
const NARROW = 720;

export function BytesView(props: ViewProps) {
  const from = useBeginning(props.place, props.entry, STEP);
  const [width] = useState(innerWidth < NARROW ? 8 : 16);
  const { data } = from;
  const lines = useMemo(() => data === undefined ? [] : hexLines(data.bytes, width), [
    data?.bytes,
    width,
  ]);
  return (
    <Shown from={from}>
      {(beginning) => (
        <Sheet facts={["Bytes"]} beginning={beginning}>
          <pre class="hex" tabIndex={0} role="region" aria-label="Content">
            {lines.map(({ offset, hex, ascii }) => (
              <span key={offset}>
                <i>{offset}</i>
                {`  ${hex.padEnd(width * 3 - 1)}  `}
                <b>{ascii}</b>
                {"\n"}
              </span>
            ))}
          </pre>
        </Sheet>
      )}
    </Shown>
  );
}

interface HexLine {
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
