import { ChevronRight } from "lucide";
import { useMemo, useState } from "preact/hooks";
import { plural } from "../../core/format.ts";
import { Icon } from "../../ui/icon.tsx";
import type { ViewProps } from "./problem.tsx";
import { FormattedView, type TextProps } from "./text.tsx";

/** Entries of an object or array that are shown at once. */
const ENTRIES_STEP = 100;
/** Objects and arrays that are open at first: those outside, while they are small. */
const OPEN_DEPTH = 3;
const OPEN_ENTRIES = 50;

/** JSON as a tree. Text that is no JSON, or too long to be read at once, is shown as it is. */
export function JsonView(props: ViewProps) {
  return <FormattedView {...props} useFormat={useTree} />;
}

function useTree(props: TextProps) {
  const parsed = useMemo(() => parsedOf(props), [props.text]);
  if (parsed === undefined) return undefined;
  const { value } = parsed;
  const entries = entriesOf(value);
  const children = (
    <div class="json" role="region" aria-label="Content" tabIndex={0}>
      <Node value={value} depth={0} />
    </div>
  );
  return { facts: ["JSON", entries === undefined ? "" : countOf(value, entries)], children };
}

function countOf(value: Json, { length }: readonly unknown[]): string {
  return Array.isArray(value) ? plural(length, "item") : plural(length, "key");
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
        <span class="soft">{Array.isArray(value) ? "[ ]" : "{ }"} {countOf(value, entries)}</span>
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

/** A number as it stands in the text: JavaScript has fewer digits. */
export class NumberText {
  constructor(readonly text: string) {}
}

type Json = null | boolean | string | NumberText | Json[] | { [key: string]: Json };

/** Parses JSON, and keeps the digits of its numbers where the browser tells them. @throws {SyntaxError} */
export function parseJson(text: string): Json {
  type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;
  const keepDigits: Reviver = (_, value, context) =>
    typeof value === "number" ? new NumberText(context?.source ?? String(value)) : value;
  return JSON.parse(text.replace(/^\ufeff/, ""), keepDigits);
}

/** The entries of an object or array, as keys with values; `undefined` for anything else. */
export function entriesOf(value: Json): [key: string, value: Json][] | undefined {
  if (value === null || typeof value !== "object" || value instanceof NumberText) return undefined;
  return Object.entries(value);
}
