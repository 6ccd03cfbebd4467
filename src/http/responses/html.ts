/**
 * Pages that the server writes itself: the gate's and those of links. They run no scripts.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { LOGO, PAGE_STYLE } from "./page_theme.ts";

/** HTML in which every text of others is escaped. */
export class Html {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes a text for HTML content and attribute values. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** A value in a template: a text, which is escaped, HTML, or a list of HTML. */
type Value = string | number | Html | readonly Html[];

/**
 * A template that escapes what is put into it. Attribute values must be in double quotes. (The formatter
 * would add spaces to templates tagged `html`.)
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * assertEquals(markup`<b title="${'"'}">${"<i>"}</b>`.text, '<b title="&quot;">&lt;i&gt;</b>');
 * ```
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  const parts = values.map((value, index) => textOf(value) + (strings[index + 1] ?? ""));
  return new Html((strings[0] ?? "") + parts.join(""));
}

function textOf(value: Value): string {
  if (value instanceof Html) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeHtml(String(value));
}

/** No HTML. */
export const NOTHING = new Html("");

/** A style sheet, and the source of a `Content-Security-Policy` that allows it and no other. */
export interface PageStyle {
  css: Html;
  source: string;
}

const BRAND = new Html(LOGO);
const WIDE = new Html(' class="wide"');

export function pageStyle(additions = ""): PageStyle {
  const css = PAGE_STYLE + additions;
  const hash = createHash("sha256").update(css).digest("base64");
  return { css: new Html(css), source: `'sha256-${hash}'` };
}

export interface PageParts {
  /** The title, which is the heading as well. */
  title: string;
  content: Html | readonly Html[];
  style: PageStyle;
  /** Whether it is wider than a form. */
  isWide?: boolean;
}

/** Returns a whole page, as text. */
export function htmlPage({ title, content, style, isWide = false }: PageParts): string {
  return markup`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${style.css}</style>
<header class="${isWide ? "brand wide" : "brand"}">${BRAND}kvdrive</header>
<main${isWide ? WIDE : NOTHING}>
<h1>${title}</h1>
${content}</main>
</html>
`.text;
}

/**
 * Returns what a page with an error says.
 *
 * @param message Says what happened and, after a colon, why or what to do.
 */
export function errorParts(
  { status, message }: { status: number; message: string },
): Pick<PageParts, "title" | "content"> {
  const [, title = message, advice] = /^(.*?): (.*)$/.exec(message) ?? [];
  const sentence = advice && `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
  const content = [
    sentence === undefined ? NOTHING : markup`<p>${sentence}</p>\n`,
    markup`<p>Error ${status}</p>\n`,
  ];
  return { title, content };
}
