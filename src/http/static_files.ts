import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

/** A file of the dashboard as it is sent. */
export interface PageFile {
  type: string;
  /** Without quotes. */
  etag: string;
  bytes: Uint8Array<ArrayBuffer>;
  zipped: Uint8Array<ArrayBuffer>;
}

/** What is sent to browsers, by the end of its name. Whatever else lies in the folder is for those who write the page. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["html", "text/html; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["svg", "image/svg+xml"],
]);

const zip = promisify(gzip);

/** A folder of a page's files, kept in memory. */
export class PageFiles {
  readonly #files: ReadonlyMap<string, PageFile>;

  constructor(files: ReadonlyMap<string, PageFile>) {
    this.#files = files;
  }

  /** Reads a folder and the folders in it, once. Inside an executable it reads what was included there. */
  static async load(folder: URL): Promise<PageFiles> {
    const paths = await pathsIn(folder);
    const files = paths.map(async (path) => [path, await read(new URL(path, folder))] as const);
    return new PageFiles(new Map(await Promise.all(files)));
  }

  /** A file by its path below the folder, exactly as it is written there. */
  find(path: string): PageFile | undefined {
    return this.#files.get(path);
  }

  get paths(): string[] {
    return [...this.#files.keys()];
  }
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
  return TYPES.has(endOf(name)) && !/_test\.\w+$/.test(name);
}

function endOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

async function read(url: URL): Promise<PageFile> {
  const bytes = await Deno.readFile(url);
  return {
    type: TYPES.get(endOf(url.pathname)) ?? "application/octet-stream",
    etag: createHash("sha256").update(bytes).digest("hex").slice(0, 32),
    bytes,
    zipped: new Uint8Array(await zip(bytes)),
  };
}
