import { CodeXml, Eye, WrapText } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { plural } from "../../core/format.ts";
import { labelOf } from "../../files/entry.ts";
import { extensionOf } from "../../files/listing/kinds.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { type Beginning, useBeginning } from "../content/beginning.ts";
import { type Block, languageOf, type Token, tokensOf } from "../content/code.ts";
import { decode, type Decoded, linesOf } from "../content/text.ts";
import { viewOf } from "../content/kinds.ts";
import { Shown, Unshowable, type ViewProps } from "./problem.tsx";
import { Sheet } from "./sheet.tsx";

/** Bytes of a text that are read at once. */
const TEXT_STEP = 256 * 1024;
/** Lines that are shown at once: each is an element of the page. */
const LINES_STEP = 3000;
/** Bytes of the longest text whose code has colors. */
const MAX_COLORED = 200_000;
/** Lines that are colored until the page gets a turn. */
const COLOR_STEP = 300;
/** Texts without program code, whose long lines are wrapped. */
const PROSE = /^(txt|log|md|markdown|csv|tsv|)$/;

export interface TextProps extends ViewProps, Decoded {
  beginning: Beginning;
}

type Format = Pick<Parameters<typeof Sheet>[0], "facts" | "children" | "onMore">;

/** A text that is shown formatted, or as its source. */
export function FormattedView({ useFormat, ...props }: ViewProps & {
  /** Returns `undefined` for a text of which only the source can be shown. */
  useFormat: (props: TextProps) => Format | undefined;
}) {
  return <WithText {...props}>{(text) => <Formatted {...text} useFormat={useFormat} />}</WithText>;
}

function Formatted({ useFormat, ...props }: TextProps & {
  useFormat: (props: TextProps) => Format | undefined;
}) {
  const [isSource, setSource] = useState(false);
  const format = useFormat(props);
  if (format === undefined) return <Source {...props} />;
  const button = (
    <Button
      class="small"
      icon={isSource ? Eye : CodeXml}
      onClick={() => setSource(!isSource)}
    >
      {isSource ? "Formatted" : "Source"}
    </Button>
  );
  if (isSource) return <Source {...props} tools={button} />;
  return <Sheet {...format} tools={button} beginning={props.beginning} />;
}

/** Reads the beginning of a text. What turns out to be none is shown as bytes. */
function WithText({ children, ...props }: ViewProps & {
  children: (props: TextProps) => ComponentChildren;
}) {
  const from = useBeginning(props.place, props.entry, TEXT_STEP);
  return (
    <Shown from={from}>
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
    <Button class="small" icon={Eye} onClick={() => showAs("svg")}>
      Drawing
    </Button>
  );
}

function Source({ entry, beginning, text, encoding, tools }: TextProps & {
  tools?: ComponentChildren;
}) {
  const lines = useMemo(() => linesOf(text), [text]);
  const [shown, setShown] = useState(LINES_STEP);
  const [isWrapped, setWrapped] = useState(PROSE.test(extensionOf(labelOf(entry))));
  const isWhole = beginning.bytes.length >= beginning.total;
  const colored = useColors(lines.slice(0, shown), labelOf(entry), beginning);
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
      >{lines.slice(0, shown).map((line, index) => (
        <span key={index}>{colored[index]?.map(spanOf) ?? line}</span>
      ))}</pre>
    </Sheet>
  );
}

function spanOf({ kind, text }: Token): ComponentChildren {
  return kind === "" ? text : <span class={`code-${kind}`}>{text}</span>;
}

/** The tokens of the first lines of code: of more of them each time that the page has had its turn. */
function useColors(
  lines: readonly string[],
  label: string,
  { total, etag }: Beginning,
): readonly (readonly Token[])[] {
  type Colored = { of: string; lines: readonly Token[][]; open: Block | undefined };
  const of = `${etag} ${label}`;
  const [state, setState] = useState<Colored>();
  const colored = state?.of === of ? state : { of, lines: [], open: undefined };
  const language = total > MAX_COLORED ? undefined : languageOf(label);
  const next = colored.lines.length;
  useEffect(() => {
    if (language === undefined || next >= lines.length) return;
    const timer = setTimeout(() => {
      let { open } = colored;
      const added = lines.slice(next, next + COLOR_STEP).map((line) => {
        const [tokens, left] = tokensOf(line, language, open);
        open = left;
        return tokens;
      });
      setState({ of, lines: [...colored.lines, ...added], open });
    });
    return () => clearTimeout(timer);
  }, [of, next, lines.length]);
  return colored.lines;
}
