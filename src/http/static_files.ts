import { HttpResponse } from "./http_response.ts";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { listsEtag } from "../rules/preconditions.ts";

/** A file that is kept in memory and sent to browsers. */
export interface StaticFile {
  /** Its content type. */
  type: string;
  /** Without quotes. */
  etag: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** Returns the same compressed with gzip, for callers that accept it. */
  zipped?: () => Promise<Uint8Array<ArrayBuffer>>;
}

/** The content types by file extension. Files with other extensions are for developers and not sent. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["html", "text/html; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["svg", "image/svg+xml"],
]);

const compress = promisify(gzip);

/** The files of a folder, kept in memory. */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  constructor(files: ReadonlyMap<string, StaticFile>) {
    this.#files = files;
  }

  /** Reads a folder and its subfolders. In an executable it reads the files that were included at the build. */
  static async load(folder: URL): Promise<StaticFiles> {
    const paths = await pathsIn(folder);
    const files = paths.map(async (path) => [path, await read(new URL(path, folder))] as const);
    return new StaticFiles(new Map(await Promise.all(files)));
  }

  /** A file by its exact path below the folder. */
  find(path: string): StaticFile | undefined {
    return this.#files.get(path);
  }

  get paths(): string[] {
    return [...this.#files.keys()];
  }
}

/** A file of this type with this content. */
export function staticFile(type: string, bytes: Uint8Array<ArrayBuffer>): StaticFile {
  const etag = createHash("sha256").update(bytes).digest("hex").slice(0, 32);
  return { type, etag, bytes };
}

/** The response with a file: 304 if the caller has it, compressed if the caller accepts that. */
export async function sendStatic(
  { headers: requested }: Request,
  file: StaticFile,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const zip = acceptsGzip(requested.get("accept-encoding") ?? "") ? file.zipped : undefined;
  const etag = zip === undefined ? file.etag : `${file.etag}-gzip`;
  const common = { ...headers, ETag: `"${etag}"` };
  if (isCurrent(requested.get("if-none-match"), file)) {
    return new HttpResponse(null, { status: 304, headers: common });
  }
  const bytes = await zip?.() ?? file.bytes;
  return new HttpResponse(bytes, {
    headers: {
      ...common,
      "Content-Type": file.type,
      "Content-Length": String(bytes.byteLength),
      ...(zip === undefined ? {} : { "Content-Encoding": "gzip" }),
    },
  });
}

/** Whether gzip is listed with a weight other than 0 (RFC 9110, 12.5.3). `*` does not count: `@std/http` would accept it. */
function acceptsGzip(accepted: string): boolean {
  return accepted.split(",").some((coding) => {
    const [name = "", ...weights] = coding.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !weights.some((weight) => /^q=0(\.0*)?$/.test(weight));
  });
}

/** Whether the caller has the file, plain or compressed: "weak comparison" (RFC 9110, 13.1.2). */
function isCurrent(ifNoneMatch: string | null, { etag }: StaticFile): boolean {
  return [etag, `${etag}-gzip`].some((tag) => listsEtag(ifNoneMatch, tag, "weak"));
}

async function pathsIn(folder: URL, prefix = ""): Promise<string[]> {
  const paths: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(new URL(prefix, folder))) {
    if (isDirectory) paths.push(...await pathsIn(folder, `${prefix}${name}/`));
    else if (isPage(name)) paths.push(prefix + name);
  }
  return paths;
}

function isPage(name: string): boolean {
  return TYPES.has(extensionOf(name)) && !/_test\.\w+$/.test(name);
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

async function read(url: URL): Promise<StaticFile> {
  const type = TYPES.get(extensionOf(url.pathname)) ?? "application/octet-stream";
  const bytes = await Deno.readFile(url);
  let zipped: Promise<Uint8Array<ArrayBuffer>> | undefined;
  return {
    ...staticFile(type, bytes),
    // On demand: most starts serve no page, and compressing all of them takes a tenth of the start.
    zipped: () => zipped ??= compress(bytes).then((result) => new Uint8Array(result)),
  };
}
