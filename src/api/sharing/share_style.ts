import { Html, pageStyle } from "../../http/responses/html.ts";
import { type FileKind, fileKind } from "./shared_headers.ts";

/** The shapes of the dashboard's icons (lucide), by the name that rows refer to. */
const PAPER =
  "M6 22a2 2 0 0 1-2-2V4a2 2 0 0 1 2-2h8a2.4 2.4 0 0 1 1.7.7l3.6 3.6A2.4 2.4 0 0 1 20 8v12a2 2 0 0 1-2 2zM14 2v5a1 1 0 0 0 1 1h5";
const SHAPES = {
  folder:
    "M20 20a2 2 0 0 0 2-2V8a2 2 0 0 0-2-2h-7.9a2 2 0 0 1-1.7-.9l-.8-1.2A2 2 0 0 0 7.9 3H4a2 2 0 0 0-2 2v13a2 2 0 0 0 2 2Z",
  image: `${PAPER}M8 12a2 2 0 1 0 4 0 2 2 0 1 0-4 0M20 17l-1.3-1.3a2.4 2.4 0 0 0-3.4 0L9 22`,
  video: `${PAPER}M15 13.4a.6.6 0 0 1 0 1.2l-4 2.3a.6.6 0 0 1-1-.6v-4.6a.6.6 0 0 1 1-.6z`,
  audio: `${PAPER}M8 18a2 2 0 1 0 4 0v-7l4 1`,
  document: `${PAPER}M10 9H8M16 13H8M16 17H8`,
  archive:
    "M3 3h18a1 1 0 0 1 1 1v3a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1V4a1 1 0 0 1 1-1zM4 8v11a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V8M10 12h4",
  code: `${PAPER}M10 12.5 8 15l2 2.5M14 12.5l2 2.5-2 2.5`,
  other: PAPER,
  get: "M12 15V3M21 15v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4M7 10l5 5 5-5",
};

type Shape = keyof typeof SHAPES;

/** The icons of a page; each is drawn with `icon`. */
export function iconsOf(names: Iterable<Shape>): Html {
  const symbols = [...new Set(names)].map((name) =>
    `<symbol id="${name}" viewBox="0 0 24 24"><path d="${SHAPES[name]}"/></symbol>`
  );
  return new Html(`<svg hidden>${symbols.join("")}</svg>\n`);
}

export function icon(name: Shape): Html {
  return new Html(`<svg><use href="#${name}"/></svg>`);
}

const SHAPE_OF_KIND: Record<FileKind, Shape> = {
  image: "image",
  audio: "audio",
  video: "video",
  pdf: "document",
  text: "document",
};

/** Returns the icon for a content type. */
export function shapeOf(type: string): Shape {
  const kind = fileKind(type);
  if (kind !== undefined) return SHAPE_OF_KIND[kind];
  if (/zip|tar|compressed/.test(type)) return "archive";
  if (/svg/.test(type)) return "image";
  if (/json|xml|script|html|css|yaml/.test(type)) return "code";
  return /^text\/|document|word|sheet|presentation|epub/.test(type) ? "document" : "other";
}

/** What people call a content type; the type itself if they have no name for it. */
export function typeLabel(type: string): string {
  const kind = fileKind(type);
  if (kind === "pdf") return "PDF document";
  if (kind === "text") return "Text";
  const [, name = ""] = /\/(?:x-)?([a-z0-9]+)/i.exec(type) ?? [];
  return kind === undefined ? type : `${name.toUpperCase()} ${kind}`;
}

const COLORED = ["folder", "image", "video", "audio", "document", "code"];

export const STYLE = pageStyle(`
a { color: var(--accent); overflow-wrap: anywhere; text-underline-offset: 2px; }
.wide { max-width: 60rem; margin-top: 0; }
.button { display: inline-flex; min-height: 2.75rem; align-items: center; padding: 0 1rem; border-radius: 8px; background: var(--accent); color: var(--on-accent); font-weight: 550; text-decoration: none; }
.button:hover { background: var(--accent-strong); }
.actions, .views { display: flex; flex-wrap: wrap; gap: .5rem 1.25rem; align-items: center; }
.actions .views { margin-inline-start: auto; }
.actions a:not(.button), .views a { padding: .5rem 0; }
[aria-current] { color: inherit; font-weight: 650; text-decoration: none; }
.muted { color: var(--text-soft); }
h1:has(+ .muted) { margin-bottom: .25rem; }
.frame { display: grid; place-items: center; min-height: 12rem; padding: 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--ground); overflow: hidden; }
.view { display: block; max-width: 100%; max-height: 70vh; }
video.view, audio.view, pre.view { width: 100%; }
pre.view { margin: 0; align-self: start; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: .875rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
svg:not(.brand *) { width: 1.5rem; height: 1.5rem; flex: none; fill: none; stroke: var(--text-soft); stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
svg[hidden] { display: none; }
.frame svg { width: 4rem; height: 4rem; stroke-width: 1.25; }
${COLORED.map((name) => `#${name} { stroke: var(--kind-${name}); }`).join("\n")}
.files { margin: 0 0 1rem; padding: 0; list-style: none; }
.files li { position: relative; display: flex; gap: .75rem; align-items: center; min-height: 2.75rem; padding: 0 .5rem; border-top: 1px solid var(--line); }
.files li:hover { background: var(--hover); }
.files img { width: 2rem; height: 2rem; border-radius: 4px; object-fit: cover; }
.name { flex: 1; min-width: 0; color: inherit; text-decoration: none; }
.name::after { content: ""; position: absolute; inset: 0; }
.get { position: relative; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; flex: none; }
.get svg { width: 1.25rem; height: 1.25rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: .75rem; }
.grid li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .25rem; align-content: start; padding: .5rem; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.grid :is(svg, img):not(.get *) { grid-column: 1 / -1; width: 100%; height: 7rem; border-radius: 4px; }
.grid svg:not(.get *) { padding: 1.75rem; background: var(--ground); }
.grid .name { grid-column: 1 / -1; font-weight: 550; }
`);
