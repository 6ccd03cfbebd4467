import { Eye, WrapText } from "lucide";
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { plural } from "../../core/format.ts";
import { labelOf } from "../../files/entry.ts";
import { extensionOf } from "../../files/listing/kinds.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { type Beginning, useBeginning } from "../content/beginning.ts";
import { decode, type Decoded, linesOf } from "../content/text.ts";
import { viewOf } from "../content/kinds.ts";
import { Shown, Unshowable } from "./problem.tsx";
import { Sheet } from "./sheet.tsx";
import type { ViewProps } from "./view.ts";

/** Bytes of a text that are read at once. */
const TEXT_STEP = 256 * 1024;
/** Lines that are shown at once: each is an element of the page. */
const LINES_STEP = 3000;
/** Texts without program code, whose long lines are wrapped. */
const PROSE = /^(txt|log|md|markdown|csv|tsv|)$/;

/** The text at the beginning of a file. */
export interface TextProps extends ViewProps, Decoded {
  beginning: Beginning;
}

/** Reads the beginning of a text. What turns out to be none is shown as bytes. */
export function WithText({ children, ...props }: ViewProps & {
  children: (props: TextProps) => ComponentChildren;
}) {
  const from = useBeginning(props.place, props.entry, TEXT_STEP);
  return (
    <Shown {...props} from={from}>
      {(beginning) => <Decoding {...props} beginning={beginning}>{children}</Decoding>}
    </Shown>
  );
}

function Decoding({ children, ...props }: ViewProps & {
  beginning: Beginning;
  children: (props: TextProps) => ComponentChildren;
}) {
  const { bytes } = props.beginning;
  const decoded = useMemo(() => decode(bytes), [bytes]);
  if (decoded === undefined) return <Unshowable {...props} title="This is not a text" />;
  return <>{children({ ...props, ...decoded })}</>;
}

/** Text or code with the numbers of its lines. */
export function TextView(props: ViewProps) {
  return (
    <WithText {...props}>{(text) => <Source {...text} tools={<Back {...props} />} />}</WithText>
  );
}

/** The way back to a drawing whose source is shown. */
function Back({ entry, showAs }: ViewProps) {
  if (viewOf(entry) !== "svg") return null;
  return (
    <Button class="sheet-button" icon={Eye} onClick={() => showAs("svg")}>
      Drawing
    </Button>
  );
}

/** The source of a text. */
export function Source({ entry, beginning, text, encoding, tools }: TextProps & {
  tools?: ComponentChildren;
}) {
  const lines = useMemo(() => linesOf(text), [text]);
  const [shown, setShown] = useState(LINES_STEP);
  const [isWrapped, setWrapped] = useState(PROSE.test(extensionOf(labelOf(entry))));
  const isWhole = beginning.bytes.length >= beginning.total;
  return (
    <Sheet
      facts={[isWhole ? plural(lines.length, "line") : "", encoding]}
      beginning={beginning}
      onMore={lines.length > shown ? () => setShown(shown + LINES_STEP) : undefined}
      tools={
        <>
          <IconButton
            icon={WrapText}
            label="Wrap long lines"
            aria-pressed={isWrapped}
            onClick={() => setWrapped(!isWrapped)}
          />
          {tools}
        </>
      }
    >
      <pre
        class={isWrapped ? "code wrapped" : "code"}
        tabIndex={0}
        role="region"
        aria-label="Content"
      >{lines.slice(0, shown).map((line, index) => <span key={index}>{line}</span>)}</pre>
    </Sheet>
  );
}
