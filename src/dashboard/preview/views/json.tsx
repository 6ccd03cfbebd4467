import { ChevronRight } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { plural } from "../../core/format.ts";
import { Icon } from "../../ui/icon.tsx";
import { entriesOf, type Json, NumberText, parseJson } from "../content/json.ts";
import { Sheet, SourceButton } from "./sheet.tsx";
import { Source, type TextProps, WithText } from "./text.tsx";
import type { ViewProps } from "./view.ts";

/** Entries of an object or array that are shown at once. */
const ENTRIES_STEP = 100;
/** Objects and arrays that are open at first: those outside, while they are small. */
const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 50;

/** JSON as a tree. Text that is no JSON, or too long to be read at once, is shown as it is. */
export function JsonView(props: ViewProps) {
  return <WithText {...props}>{(text) => <Formatted {...text} />}</WithText>;
}

function Formatted(props: TextProps) {
  const { beginning, text } = props;
  const [isSource, setSource] = useState(false);
  const parsed = useMemo(() => parsedOf(props), [text]);
  if (parsed === undefined) return <Source {...props} />;
  const button = <SourceButton isSource={isSource} onChange={setSource} />;
  if (isSource) return <Source {...props} tools={button} />;
  const entries = entriesOf(parsed.value);
  const count = entries === undefined
    ? ""
    : Array.isArray(parsed.value)
    ? plural(entries.length, "item")
    : plural(entries.length, "key");
  return (
    <Sheet facts={["JSON", count]} tools={button} beginning={beginning}>
      <div class="json" role="region" aria-label="Content" tabIndex={0}>
        <Node value={parsed.value} depth={0} />
      </div>
    </Sheet>
  );
}

function parsedOf({ beginning, text }: TextProps): { value: Json } | undefined {
  if (beginning.bytes.length < beginning.total) return undefined;
  try {
    return { value: parseJson(text) };
  } catch {
    // The source shows what is wrong with it.
    return undefined;
  }
}

function Node({ name, value, depth }: { name?: string; value: Json; depth: number }) {
  const entries = entriesOf(value);
  const [isOpen, setOpen] = useState(
    depth < OPEN_DEPTH && (entries?.length ?? 0) <= OPEN_ENTRIES || depth === 0,
  );
  const [shown, setShown] = useState(ENTRIES_STEP);
  const key = name === undefined ? null : <span class="json-key">{name}</span>;
  if (entries === undefined || entries.length === 0) {
    return (
      <div class="json-line">
        {key}
        {key && ": "}
        <Leaf value={value} />
      </div>
    );
  }
  const isArray = Array.isArray(value);
  const count = isArray ? plural(entries.length, "item") : plural(entries.length, "key");
  return (
    <div>
      <button
        type="button"
        class="json-line json-toggle"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon of={ChevronRight} size={14} />
        {key}
        {key && ": "}
        <span class="soft">{isArray ? "[ ]" : "{ }"} {count}</span>
      </button>
      {isOpen && (
        <div class="json-children">
          {entries.slice(0, shown).map(([name, value]) => (
            <Node key={name} name={name} value={value} depth={depth + 1} />
          ))}
          {entries.length > shown
            ? (
              <button
                type="button"
                class="json-line json-more"
                onClick={() => setShown(shown + ENTRIES_STEP)}
              >
                {plural(entries.length - shown, "more entry", "more entries")}…
              </button>
            )
            : null}
        </div>
      )}
    </div>
  );
}

function Leaf({ value }: { value: Json }) {
  if (value instanceof NumberText) return <span class="json-number">{value.text}</span>;
  if (typeof value === "string") {
    return <span class="json-string">{JSON.stringify(value)}</span>;
  }
  if (value !== null && typeof value === "object") {
    return <span class="soft">{Array.isArray(value) ? "[ ]" : "{ }"}</span>;
  }
  return <span class="json-word">{String(value)}</span>;
}
