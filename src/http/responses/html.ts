/**
 * Pages that the server writes itself: the gate's and those of links. They run no scripts.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** Names of colors with their values on light and dark screens, as in `src/dashboard/styles/theme.css`. */
export const COLORS: Readonly<Record<string, readonly [light: string, dark: string]>> = {
  "ground": ["#f6f7f9", "#121418"],
  "surface": ["#ffffff", "#1a1d23"],
  "hover": ["#eef0f4", "#262b34"],
  "text": ["#1a1d24", "#e8eaef"],
  "text-soft": ["#5a6170", "#a3abba"],
  "line": ["#e1e4ea", "#2c313b"],
  "line-strong": ["#7d8595", "#7a8394"],
  "accent": ["#4454d6", "#97a3ff"],
  "accent-strong": ["#3543b8", "#b2bbff"],
  "on-accent": ["#ffffff", "#14173a"],
  "bad": ["#b3261e", "#ff9d94"],
  "kind-folder": ["#4454d6", "#97a3ff"],
  "kind-image": ["#a23b8f", "#ee9fdf"],
  "kind-video": ["#a33a2c", "#ff9d8c"],
  "kind-audio": ["#8a5a00", "#f0bd60"],
  "kind-document": ["#1f6b94", "#7cc7ee"],
  "kind-code": ["#176639", "#7fd6a0"],
};

/** The color of the logo. */
const BRAND_COLOR = "#4454d6";

function variables(theme: 0 | 1): string {
  const all = Object.entries(COLORS).map(([name, values]) => `--${name}:${values[theme]}`);
  return `:root{${all.join(";")}}`;
}

/** The style of all pages: colors for light and dark, text, and forms. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; }
${variables(0)}
@media (prefers-color-scheme: dark) { ${variables(1)} }
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: .9375rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.brand { display: flex; gap: .625rem; align-items: center; max-width: 24rem; margin: 4vh auto 1rem; font-size: 1.125rem; font-weight: 700; letter-spacing: -.02em; }
main { max-width: 24rem; margin: 0 auto; padding: 1.25rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
h1 { margin: 0 0 1rem; font-size: 1.375rem; font-weight: 650; line-height: 1.25; letter-spacing: -.015em; overflow-wrap: anywhere; }
p { margin: 0 0 1rem; }
main > :last-child { margin-bottom: 0; }
.wrong { color: var(--bad); }
label { display: block; margin: 0 0 .25rem; font-weight: 550; }
input, button { width: 100%; min-height: 2.75rem; border-radius: 8px; font: inherit; }
input { padding: 0 .75rem; border: 1px solid var(--line-strong); background: var(--surface); color: inherit; }
button { margin-top: 1rem; border: 0; background: var(--accent); color: var(--on-accent); font-weight: 550; cursor: pointer; }
button:hover { background: var(--accent-strong); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;

/** The logo of `src/dashboard/styles/icon.svg`. */
export const LOGO =
  `<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8" fill="${BRAND_COLOR}"/>` +
  '<path d="M7 11.5A2.5 2.5 0 0 1 9.5 9h4l2.5 2.5h6.5A2.5 2.5 0 0 1 25 14v1H7z" fill="#fff" opacity=".55"/>' +
  `<rect x="7" y="14" width="18" height="9.5" rx="2.5" fill="#fff"/><circle cx="21.5" cy="18.75" r="1.5" fill="${BRAND_COLOR}"/></svg>`;

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
