import { useMemo, useState } from "preact/hooks";
import { useBeginning } from "../content/beginning.ts";
import { hexLines } from "../content/hex.ts";
import { Shown } from "./problem.tsx";
import { Sheet } from "./sheet.tsx";
import type { ViewProps } from "./view.ts";

/** Bytes that are read and shown at once. */
const STEP = 16 * 1024;
/** Narrower windows show fewer bytes in a line, in pixels. */
const NARROW = 720;

/** The bytes of a file with their offsets. */
export function BytesView(props: ViewProps) {
  const from = useBeginning(props.place, props.entry, STEP);
  const [width] = useState(innerWidth < NARROW ? 8 : 16);
  const { data } = from;
  const lines = useMemo(() => data === undefined ? [] : hexLines(data.bytes, width), [
    data?.bytes,
    width,
  ]);
  return (
    <Shown {...props} from={from}>
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
