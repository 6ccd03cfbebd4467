import {
  errorParts,
  Html,
  htmlPage,
  markup,
  NOTHING,
  type PageParts,
  pageStyle,
} from "../../http/responses/html.ts";
import type { HttpError } from "../../http/http_error.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import { formatBytes, KIB } from "../../rules/units.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import type { OpenFile } from "../../store/files/file_reader.ts";
import type { Listed } from "../../store/listing/listing.ts";
import { type FileKind, fileKind, lastSegment, pagePolicy } from "./shared_headers.ts";

/** The parameters of an address below a link. */
export type Query = Readonly<Record<string, string>>;

/** Returns a query such as `?name=a.txt&preview`. */
function queryOf(parameters: Query): string {
  const pairs = Object.entries(parameters).map(([name, value]) =>
    value === "" ? name : `${name}=${encodeURIComponent(value)}`
  );
  return `?${pairs.join("&")}`;
}

/** What a page of a folder with tiles adds to its addresses, so that other folders have tiles as well. */
export function viewQuery(isGrid: boolean): Query {
  return isGrid ? { view: "grid" } : {};
}

/** A page about a link. It is for one moment and one visitor. */
function page(
  status: number,
  { title, content, isWide = false }: Omit<PageParts, "style">,
  headers: Record<string, string> = {},
): Response {
  const text = htmlPage({ title, content, style: STYLE, isWide });
  const body = new TextEncoder().encode(text);
  return new HttpResponse(body, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": String(body.byteLength),
      "Cache-Control": "no-store",
      "Content-Security-Policy": pagePolicy(STYLE),
      ...headers,
    },
  });
}

export function errorPage(error: HttpError): Response {
  return page(error.status, errorParts(error), error.headers);
}

/** The page with the form for a link's password. @param problem Why the last attempt failed. */
export function passwordPage(
  status: number,
  problem: string | undefined,
  headers: Record<string, string>,
): Response {
  const field = new Html(
    'id="password" name="password" type="password" autocomplete="off" autocapitalize="off" spellcheck="false" required',
  );
  const isWrong = problem !== undefined;
  const state = new Html(isWrong ? ' aria-invalid="true" aria-describedby="problem"' : "");
  const content = [
    markup`<p>This link has a password.</p>\n`,
    isWrong ? markup`<p class="wrong" id="problem" role="alert">${problem}</p>\n` : NOTHING,
    markup`<form method="post">\n<label for="password">Password</label>\n`,
    markup`<input ${field}${state}>\n<button>Open</button>\n</form>\n`,
  ];
  return page(status, { title: "Password needed", content }, headers);
}

/** What a preview shows of a text, in bytes. */
const TEXT_PREVIEW = 16 * KIB;

/** What a preview shows of a file. */
export interface Preview {
  name: string;
  record: FileRecord;
  /** The query of the file itself: its name below the link; empty for a link on a file. */
  query: Query;
  /** The query of the folder to go back to; absent for a link on a file. */
  back?: Query;
  /** Whether browsers may show the file itself. */
  isShown: boolean;
  /** The beginning of a text, and whether it has more. */
  text?: { start: string; hasMore: boolean } | undefined;
}

const DAY = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });

/** The page about one file: its name, its size, and its content if browsers show that. */
export function previewPage(preview: Preview): Response {
  const { name, record, query, back, isShown } = preview;
  const kind = isShown ? fileKind(record.type) : undefined;
  const isOpened = kind === "image" || kind === "pdf" || kind === "text";
  const facts = [formatBytes(record.size), typeLabel(record.type), DAY.format(record.modified)];
  const content = [
    iconsOf([shapeOf(record.type)]),
    markup`<p class="muted">${facts.join(" · ")}</p>\n<p class="actions">`,
    markup`<a class="button" href="${queryOf({ ...query, download: "" })}">Download</a>`,
    isOpened ? markup` <a href="${queryOf({ ...query, inline: "" })}">Open</a>` : NOTHING,
    back === undefined ? NOTHING : markup` <a href="${queryOf(back)}">All files</a>`,
    markup`</p>\n<div class="frame">${viewOf(preview)}</div>\n`,
  ];
  return page(200, { title: lastSegment(name), content, isWide: true });
}

function viewOf({ name, record, query, isShown, text }: Preview): Html {
  const label = lastSegment(name);
  const address = queryOf(query);
  const kind = isShown ? fileKind(record.type) : undefined;
  if (kind === "image") return markup`<img class="view" src="${address}" alt="${label}">`;
  if (kind === "audio") {
    return markup`<audio class="view" src="${address}" controls aria-label="${label}"></audio>`;
  }
  if (kind === "video") {
    return markup`<video class="view" src="${address}" controls aria-label="${label}"></video>`;
  }
  if (kind === "text" && text !== undefined) return textView(label, text);
  if (!isShown || record.thumbnail === undefined) return icon(shapeOf(record.type));
  return markup`<img class="view" src="${queryOf({ ...query, thumbnail: "" })}" alt="">`;
}

function textView(label: string, { start, hasMore }: { start: string; hasMore: boolean }): Html {
  const more = hasMore ? markup`<p class="muted">This is the beginning of the text.</p>` : NOTHING;
  const attributes = markup`class="view" tabindex="0" role="region" aria-label="${label}"`;
  return markup`<pre ${attributes}>\n${start}</pre>\n${more}`;
}

/** Returns the beginning of a text file for its preview. What is not UTF-8 is replaced. */
export async function beginningOf(file: OpenFile): Promise<{ start: string; hasMore: boolean }> {
  const { size } = file.record;
  const end = Math.min(size, TEXT_PREVIEW);
  const decoder = new TextDecoder();
  let start = "";
  if (file.content !== undefined) {
    start = decoder.decode(file.content.subarray(0, end), { stream: true });
  } else if (end > 0) {
    for await (const piece of await file.read({ start: 0, end })) {
      start += decoder.decode(piece, { stream: true });
    }
  }
  return { start, hasMore: size > end };
}

export interface FolderView {
  /** The prefix of the link. */
  root: string;
  /** The rest of the folder's name after it. */
  folder: string;
  entries: readonly Listed[];
  /** Where the listing begins, after the prefix of the link. */
  last: string;
  /** Whether there are more entries. */
  more: boolean;
  /** Whether it shows tiles in place of rows. */
  isGrid: boolean;
  /** Whether it may show thumbnails. */
  isShown: boolean;
}

/** The page with the files and folders below a link on a prefix. */
export function folderPage(view: FolderView): Response {
  const { root, folder, entries, last, more, isGrid } = view;
  const title = lastSegment(root + folder).replace(/\/$/, "") || "Shared files";
  const isEmpty = entries.length === 0 && last === "";
  const state = viewQuery(isGrid);
  const up = queryOf({ prefix: parentOf(folder), ...state });
  const next = more ? entries.at(-1)?.name.slice(root.length) : undefined;
  const content = [
    iconsOf([...entries.map(({ record }) => record ? shapeOf(record.type) : "folder"), "get"]),
    markup`<p class="actions">`,
    isEmpty ? markup`There are no files here.` : downloadAll(folder),
    folder === "" ? NOTHING : markup` <a href="${up}">Up</a>`,
    isEmpty ? NOTHING : viewChoice(view),
    markup`</p>\n`,
    isEmpty
      ? NOTHING
      : markup`<ul class="${isGrid ? "files grid" : "files"}">\n${
        entries.map((entry) => rowOf(entry, view))
      }</ul>\n`,
    next === undefined
      ? NOTHING
      : markup`<p><a href="${
        queryOf({ prefix: folder, last: next, ...state })
      }">More files</a></p>\n`,
  ];
  return page(200, { title, content, isWide: true });
}

function downloadAll(folder: string): Html {
  return markup`<a class="button" href="${
    queryOf({ prefix: folder, zip: "" })
  }">Download all as ZIP</a>`;
}

/** The links to the rows and the tiles of a folder. */
function viewChoice({ folder, last, isGrid }: FolderView): Html {
  const link = (label: string, isOfGrid: boolean) => {
    const query = { prefix: folder, ...last === "" ? {} : { last }, ...viewQuery(isOfGrid) };
    const current = new Html(isGrid === isOfGrid ? ' aria-current="true"' : "");
    return markup`<a href="${queryOf(query)}"${current}>${label}</a>`;
  };
  return markup`<span class="views">${link("List", false)}${link("Grid", true)}</span>`;
}

function rowOf({ name, record }: Listed, { root, isGrid, isShown }: FolderView): Html {
  const rest = name.slice(root.length);
  const label = lastSegment(name);
  const state = viewQuery(isGrid);
  const target: Query = record === undefined ? { prefix: rest } : { name: rest, preview: "" };
  // Tiles cut long names.
  const full = isGrid ? markup` title="${label}"` : "";
  const link = markup`<a class="name"${full} href="${
    queryOf({ ...target, ...state })
  }">${label}</a>`;
  if (record === undefined) return markup`<li>${icon("folder")}${link}</li>\n`;
  const picture = isShown && record.thumbnail !== undefined
    ? markup`<img src="${queryOf({ name: rest, thumbnail: "" })}" alt="">`
    : icon(shapeOf(record.type));
  const size = markup`<span class="muted">${formatBytes(record.size)}</span>`;
  const get = queryOf({ name: rest, download: "" });
  const save = markup`<a class="get" href="${get}" aria-label="Download ${label}">${
    icon("get")
  }</a>`;
  return markup`<li>${picture}${link}${size}${save}</li>\n`;
}

/** Returns the folder above another one; empty for the top. */
function parentOf(folder: string): string {
  const end = folder.endsWith("/") ? folder.length - 1 : folder.length;
  return folder.slice(0, folder.lastIndexOf("/", end - 1) + 1);
}

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
  if (OFFICE.some(([pattern]) => pattern.test(type))) return "document";
  if (/zip|tar|compressed/.test(type)) return "archive";
  if (/svg/.test(type)) return "image";
  if (/json|xml|script|html|css|yaml/.test(type)) return "code";
  return type.startsWith("text/") ? "document" : "other";
}

/** Types of office programs, whose names are long and speak of XML. */
const OFFICE: readonly (readonly [pattern: RegExp, label: string])[] = [
  [/spreadsheet|ms-excel/, "Spreadsheet"],
  [/presentation|ms-powerpoint/, "Presentation"],
  [/epub/, "E-book"],
  [/word|document/, "Document"],
];

/** What people call a content type; the type itself if they have no name for it. */
export function typeLabel(type: string): string {
  const kind = fileKind(type);
  if (kind === "pdf") return "PDF document";
  if (kind === "text") return "Text";
  const office = OFFICE.find(([pattern]) => pattern.test(type));
  if (kind === undefined) return office?.[1] ?? type;
  const [, name = ""] = /\/(?:x-)?([a-z0-9]+)/i.exec(type) ?? [];
  return `${name.toUpperCase()} ${kind}`;
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
.muted { color: var(--text-soft); overflow-wrap: anywhere; }
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
.name { flex: 1; min-width: 0; padding-block: .375rem; color: inherit; text-decoration: none; }
.name::after { content: ""; position: absolute; inset: 0; }
.get { position: relative; display: grid; place-items: center; width: 2.75rem; height: 2.75rem; flex: none; }
.get svg { width: 1.25rem; height: 1.25rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: .75rem; }
.grid li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .25rem; align-content: start; padding: .5rem; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.grid :is(svg, img):not(.get *) { grid-column: 1 / -1; width: 100%; height: 7rem; border-radius: 4px; }
.grid svg:not(.get *) { padding: 1.75rem; background: var(--ground); }
.grid .name { display: -webkit-box; grid-column: 1 / -1; padding: 0; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 3; font-weight: 550; }
`);
