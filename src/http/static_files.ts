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

/** The content types by file extension. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["html", "text/html; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["svg", "image/svg+xml"],
]);

const compress = promisify(gzip);

/** What pages contain in place of the version. */
const VERSION = "{version}";
/** Digits of a version: 64 bits. */
const VERSION_LENGTH = 16;

/** The files of a folder, kept in memory. */
export class StaticFiles {
  readonly #files: ReadonlyMap<string, StaticFile>;

  private constructor(
    /** A hash of the names and contents of all files: a part of addresses whose content never changes. */
    readonly version: string,
    files: ReadonlyMap<string, StaticFile>,
  ) {
    this.#files = files;
  }

  /**
   * Reads a folder, without its subfolders. In an executable it reads the files that were included at the build. Pages get
   * the version in place of each `{version}`.
   */
  static async load(folder: URL): Promise<StaticFiles> {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    const read = entries.map(async ({ name }) =>
      [name, await Deno.readFile(new URL(name, folder))] as const
    );
    return StaticFiles.of(new Map(await Promise.all(read)));
  }

  /** Files with these names and contents. */
  static of(contents: ReadonlyMap<string, Uint8Array<ArrayBuffer>>): StaticFiles {
    const version = versionOf(contents);
    const files = [...contents].map(([name, bytes]) => {
      const type = TYPES.get(name.slice(name.lastIndexOf(".") + 1)) ?? "application/octet-stream";
      const isPage = type.startsWith("text/html");
      return [
        name,
        zippable(staticFile(type, isPage ? withVersion(bytes, version) : bytes)),
      ] as const;
    });
    return new StaticFiles(version, new Map(files));
  }

  /** A file by its exact name. */
  find(name: string): StaticFile | undefined {
    return this.#files.get(name);
  }

  get names(): string[] {
    return [...this.#files.keys()];
  }
}

/** Independent of the order in which a folder is read. Names and contents are hashed one by one, so none runs into the next. */
function versionOf(contents: ReadonlyMap<string, Uint8Array>): string {
  const lines = [...contents].map(([name, bytes]) => `${sha256(bytes)} ${name}\n`);
  return sha256(lines.toSorted().join("")).slice(0, VERSION_LENGTH);
}

function withVersion(page: Uint8Array, version: string): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder().decode(page).replaceAll(VERSION, version);
  return new TextEncoder().encode(text);
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** A file of this type with this content. */
export function staticFile(type: string, bytes: Uint8Array<ArrayBuffer>): StaticFile {
  return { type, etag: sha256(bytes).slice(0, 32), bytes };
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

/** Compresses on demand: most starts serve no page, and compressing takes a tenth of the start. */
function zippable(file: StaticFile): StaticFile {
  let zipped: Promise<Uint8Array<ArrayBuffer>> | undefined;
  return {
    ...file,
    zipped: () => zipped ??= compress(file.bytes).then((result) => new Uint8Array(result)),
  };
}
