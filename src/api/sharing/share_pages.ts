import {
  errorParts,
  Html,
  htmlPage,
  markup,
  NOTHING,
  type PageParts,
} from "../../http/responses/html.ts";
import type { HttpError } from "../../http/http_error.ts";
import { HttpResponse } from "../../http/responses/http_response.ts";
import { formatBytes, KIB } from "../../rules/units.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import type { OpenFile } from "../../store/files/file_reader.ts";
import type { Listed } from "../../store/listing/listing.ts";
import { fileKind, lastSegment, pagePolicy } from "./shared_headers.ts";
import { icon, iconsOf, shapeOf, STYLE, typeLabel } from "./share_style.ts";

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
  const target = record === undefined ? { prefix: rest } : { name: rest, preview: "" };
  const link = markup`<a class="name" href="${queryOf({ ...target, ...state })}">${label}</a>`;
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
