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
import { isoSeconds } from "../../rules/dates.ts";
import { formatBytes, KIB } from "../../rules/units.ts";
import type { FileRecord } from "../../store/engine/records.ts";
import type { OpenFile } from "../../store/files/open_file.ts";
import type { Listed } from "../../store/listing/listing.ts";
import { type FileKind, fileKind, lastSegment, pagePolicy } from "./shared_headers.ts";

const STYLE = pageStyle(`
a { color: var(--accent); overflow-wrap: anywhere; }
main.wide { max-width: 44rem; margin-top: 0; }
.button { display: inline-block; padding: .5rem 1rem; border-radius: .375rem; background: var(--accent); color: var(--on-accent); font-weight: 600; text-decoration: none; }
.actions { display: flex; flex-wrap: wrap; gap: .75rem 1.25rem; align-items: center; }
.muted { opacity: .8; }
.view { display: block; max-width: 100%; max-height: 75vh; margin: 0 0 1rem; }
video.view, audio.view { width: 100%; }
pre.view { padding: .75rem; border: 1px solid var(--line); border-radius: .375rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; font: .875rem/1.5 ui-monospace, monospace; }
ul.files { margin: 0 0 1rem; padding: 0; list-style: none; border-bottom: 1px solid var(--line); }
.files li { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center; padding: .375rem 0; border-top: 1px solid var(--line); }
.files .name { flex: 1 1 12rem; padding: .375rem 0; }
.files .get { padding: .375rem 0; }
`);

/** The query of an address below a link, such as `?name=a.txt&preview`. */
function queryOf(parameters: Record<string, string>): string {
  const pairs = Object.entries(parameters).map(([name, value]) =>
    value === "" ? name : `${name}=${encodeURIComponent(value)}`
  );
  return `?${pairs.join("&")}`;
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

/** The page with an error. */
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
  query: Record<string, string>;
  /** The folder to go back to; absent for a link on a file. */
  folder?: string;
  /** Whether browsers may show the file itself. */
  isShown: boolean;
  /** The beginning of a text, and whether it has more. */
  text?: { start: string; hasMore: boolean } | undefined;
}

/** The page about one file: its name, its size, and its content if browsers show that. */
export function previewPage(preview: Preview): Response {
  const { name, record, query, folder, isShown } = preview;
  const kind = isShown ? fileKind(record.type) : undefined;
  const open = queryOf(query);
  const isOpened = kind === "image" || kind === "pdf" || kind === "text";
  const size = formatBytes(record.size);
  const changed = isoSeconds(record.modified).slice(0, "2021-04-22".length);
  const content = [
    viewOf(kind, open, preview),
    markup`<p class="muted">${size}, ${record.type}, changed ${changed}</p>\n<p class="actions">`,
    markup`<a class="button" href="${queryOf({ ...query, download: "" })}">Download</a>`,
    isOpened ? markup` <a href="${open}">Open</a>` : NOTHING,
    folder === undefined
      ? NOTHING
      : markup` <a href="${queryOf({ prefix: folder })}">All files</a>`,
    markup`</p>\n`,
  ];
  return page(200, { title: lastSegment(name), content, isWide: true });
}

function viewOf(kind: FileKind | undefined, open: string, { name, text }: Preview): Html {
  const label = lastSegment(name);
  switch (kind) {
    case "image":
      return markup`<img class="view" src="${open}" alt="${label}">\n`;
    case "audio":
      return markup`<audio class="view" src="${open}" controls aria-label="${label}"></audio>\n`;
    case "video":
      return markup`<video class="view" src="${open}" controls aria-label="${label}"></video>\n`;
    case "text":
      return text === undefined ? NOTHING : textView(label, text);
    default:
      return NOTHING;
  }
}

function textView(label: string, { start, hasMore }: { start: string; hasMore: boolean }): Html {
  const more = hasMore ? markup`<p>This is the beginning of the text.</p>\n` : NOTHING;
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

/** A folder as its page shows it. */
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
}

/** The page with the files and folders below a link on a prefix. */
export function folderPage({ root, folder, entries, last, more }: FolderView): Response {
  const title = lastSegment(root + folder) || "Shared files";
  const isEmpty = entries.length === 0 && last === "";
  const zip = queryOf({ prefix: folder, zip: "" });
  const up = queryOf({ prefix: parentOf(folder) });
  const next = more ? entries.at(-1)?.name.slice(root.length) : undefined;
  const rows = entries.map((entry) => rowOf(entry, root));
  const content = [
    markup`<p class="actions">`,
    isEmpty
      ? markup`There are no files here.`
      : markup`<a class="button" href="${zip}">Download all as ZIP</a>`,
    folder === "" ? NOTHING : markup` <a href="${up}">Up</a>`,
    markup`</p>\n`,
    isEmpty ? NOTHING : markup`<ul class="files">\n${rows}</ul>\n`,
    next === undefined
      ? NOTHING
      : markup`<p><a href="${queryOf({ prefix: folder, last: next })}">More files</a></p>\n`,
  ];
  return page(200, { title, content, isWide: true });
}

function rowOf({ name, record }: Listed, root: string): Html {
  const rest = name.slice(root.length);
  const label = lastSegment(name);
  const open = queryOf(record === undefined ? { prefix: rest } : { name: rest, preview: "" });
  const link = markup`<a class="name" href="${open}">${label}</a>`;
  if (record === undefined) return markup`<li>${link}</li>\n`;
  const size = markup`<span class="muted">${formatBytes(record.size)}</span>`;
  const get = queryOf({ name: rest, download: "" });
  const save = markup`<a class="get" href="${get}" aria-label="Download ${label}">Download</a>`;
  return markup`<li>${link} ${size} ${save}</li>\n`;
}

/** Returns the folder above another one; empty for the top. */
function parentOf(folder: string): string {
  const end = folder.endsWith("/") ? folder.length - 1 : folder.length;
  return folder.slice(0, folder.lastIndexOf("/", end - 1) + 1);
}
