import { HttpResponse } from "./http_response.ts";
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { listsEtag } from "../../rules/preconditions.ts";

/** A file that is kept in memory and sent to browsers. */
export interface StaticFile {
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

/** What pages contain in place of the name of another file, such as `{main.js}`. */
const PLACEHOLDER = /\{([\w.-]+)\}/g;
/** The start of an attribute with an address of this server. */
const ADDRESS = /(\s(?:href|src|content)=")(?=\/)/g;
/** Digits of the hash in a name: 64 bits. */
const HASH_LENGTH = 16;

const PAGE = /\.html$/;

/**
 * The files of a folder, kept in memory. Each but the pages has a hash of its content in its name, `main-<hash>.js`, so
 * that a name has one content for ever; pages name the others by them.
 */
export class StaticFiles {
  private constructor(private readonly files: ReadonlyMap<string, StaticFile>) {}

  /**
   * Reads a folder, without its subfolders. In an executable it reads the files that were included at the build.
   *
   * @param basePath What the addresses in pages begin with.
   */
  static async load(folder: URL, basePath = ""): Promise<StaticFiles> {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    const files = entries.filter(({ isFile }) => isFile);
    const read = files.map(async ({ name }) =>
      [name, await Deno.readFile(new URL(name, folder))] as const
    );
    return StaticFiles.of(new Map(await Promise.all(read)), basePath);
  }

  /** Files with these names and contents. */
  static of(
    contents: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
    basePath = "",
  ): StaticFiles {
    const names = new Map(
      [...contents].map(([name, bytes]) =>
        [name, PAGE.test(name) ? name : hashedName(name, bytes)] as const
      ),
    );
    const files = [...contents].map(([name, bytes]) => {
      const type = TYPES.get(name.slice(name.lastIndexOf(".") + 1)) ?? "application/octet-stream";
      const content = PAGE.test(name) ? withNames(bytes, names, basePath) : bytes;
      return [names.get(name) ?? name, zippable(staticFile(type, content))] as const;
    });
    return new StaticFiles(new Map(files));
  }

  /** A file by its exact name. */
  find(name: string): StaticFile | undefined {
    return this.files.get(name);
  }

  get names(): string[] {
    return [...this.files.keys()];
  }
}

/** Returns `main-<hash>.js` for `main.js`. */
function hashedName(name: string, bytes: Uint8Array): string {
  const dot = name.lastIndexOf(".");
  const [stem, extension] = dot === -1 ? [name, ""] : [name.slice(0, dot), name.slice(dot)];
  return `${stem}-${sha256(bytes).slice(0, HASH_LENGTH)}${extension}`;
}

function withNames(
  page: Uint8Array,
  names: ReadonlyMap<string, string>,
  basePath: string,
): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder().decode(page)
    .replaceAll(PLACEHOLDER, (whole, name) => names.get(name) ?? whole)
    .replaceAll(ADDRESS, (_, start) => start + basePath);
  return new TextEncoder().encode(text);
}

function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

export function staticFile(type: string, bytes: Uint8Array<ArrayBuffer>): StaticFile {
  return { type, etag: sha256(bytes).slice(0, 32), bytes };
}

/** The response with a file: 304 if the caller has it, compressed if the caller accepts that. */
export async function sendStatic(
  { headers: requested }: Request,
  file: StaticFile,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  const zip = acceptsGzip(requested) ? file.zipped : undefined;
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
export function acceptsGzip(requested: Headers): boolean {
  return (requested.get("accept-encoding") ?? "").split(",").some((coding) => {
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
