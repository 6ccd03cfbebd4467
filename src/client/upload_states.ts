import { join } from "@std/path/join";
import { removeIfExists } from "./local_files.ts";
import { stableName } from "../rules/archive/local_paths.ts";

/** Milliseconds for which an interrupted upload is remembered: a week, the longest time that servers keep one. */
export const UPLOAD_STATE_TIME = 7 * 24 * 60 * 60_000;

export interface UploadState {
  readonly id: string;
  /** The SHA-256 of the stored parts in base64, by number. */
  readonly digests: ReadonlyMap<number, string>;
  addPart(part: number, sha256: string): Promise<void>;
  /** Forgets the upload, or with `etag` remembers the version that it produced. */
  finish(etag?: string): Promise<void>;
}

type Line =
  | { upload: string; stamp: string }
  | { part: number; sha256: string }
  | { done: string; stamp: string };

/** The states of uploads that may have been interrupted, one file each. Without a folder nothing is remembered. */
export class UploadStates {
  constructor(
    private readonly folder: string | undefined,
  ) {}

  /** Returns the state of an interrupted upload of the same content, as its stamp tells; `undefined` if there is none. */
  async find(key: readonly string[], stamp: string): Promise<UploadState | undefined> {
    const path = this.#pathOf(key);
    const [first, ...others] = await linesOf(path);
    if (path === undefined || first === undefined || !("upload" in first)) return undefined;
    if (first.stamp !== stamp) return undefined;
    return stateAt(path, first.upload, stamp, others);
  }

  /** Starts to remember an upload. */
  async begin(key: readonly string[], stamp: string, id: string): Promise<UploadState> {
    const path = this.#pathOf(key);
    if (this.folder !== undefined && path !== undefined) {
      await Deno.mkdir(this.folder, { recursive: true, mode: 0o700 });
      await Deno.writeTextFile(path, lineOf({ upload: id, stamp }), { mode: 0o600 });
    }
    return stateAt(path, id, stamp);
  }

  /** Returns the ETag that an upload of the same content produced; `undefined` if it is not remembered. */
  async storedVersion(key: readonly string[], stamp: string): Promise<string | undefined> {
    const [first] = await linesOf(this.#pathOf(key));
    return first !== undefined && "done" in first && first.stamp === stamp ? first.done : undefined;
  }

  /** Removes states older than `UPLOAD_STATE_TIME`. */
  async removeExpired(): Promise<void> {
    if (this.folder === undefined) return;
    try {
      for await (const { name } of Deno.readDir(this.folder)) {
        const path = join(this.folder, name);
        const { mtime } = await Deno.stat(path);
        const age = Date.now() - (mtime?.getTime() ?? 0);
        if (name.endsWith(".jsonl") && age > UPLOAD_STATE_TIME) await Deno.remove(path);
      }
    } catch (error) {
      // There is no folder yet, or another process removes expired states at the same time.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  #pathOf(key: readonly string[]): string | undefined {
    const folder = this.folder;
    return folder === undefined ? undefined : join(folder, `${stableName(...key)}.jsonl`);
  }
}

/**
 * Returns the state of an upload.
 *
 * @param path The file that remembers it; nothing is remembered without one, as of an upload from a pipe.
 */
export function stateAt(
  path: string | undefined,
  id: string,
  stamp = "",
  lines: readonly Line[] = [],
): UploadState {
  const digests = new Map<number, string>();
  for (const line of lines) if ("part" in line) digests.set(line.part, line.sha256);
  return {
    id,
    digests,
    async addPart(part, sha256) {
      digests.set(part, sha256);
      if (path === undefined) return;
      await Deno.writeTextFile(path, lineOf({ part, sha256 }), { append: true });
    },
    async finish(etag) {
      if (path === undefined) return;
      if (etag === undefined) await removeIfExists(path);
      else await Deno.writeTextFile(path, lineOf({ done: etag, stamp }));
    },
  };
}

function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** Reads the lines of a state file. A line that was cut off by a crash is ignored. */
async function linesOf(path: string | undefined): Promise<Line[]> {
  if (path === undefined) return [];
  try {
    const text = await Deno.readTextFile(path);
    return text.split("\n").flatMap((line) => {
      try {
        return [JSON.parse(line) as Line];
      } catch {
        return [];
      }
    });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
