import { join } from "@std/path";
import { MINUTE } from "../rules/units.ts";
import { stableName } from "./local_paths.ts";

/** How long a client remembers an upload that was interrupted: no server keeps it for longer, as far as is known. */
export const UPLOAD_STATE_TIME = 7 * 24 * 60 * MINUTE;

/** What is remembered of an upload: its id, and the digests of the parts that were sent, in base64. */
export interface UploadState {
  readonly id: string;
  readonly digests: ReadonlyMap<number, string>;
  note(part: number, sha256: string): Promise<void>;
  /** Remembers which version came of it, where somebody wants to know that; else forgets the upload. */
  end(etag?: string): Promise<void>;
}

/** A line of a state's file. */
type Line =
  | { upload: string; stamp: string }
  | { part: number; sha256: string }
  | { done: string; stamp: string };

/** Uploads that may have been interrupted, one file each. Without a folder nothing is remembered. */
export class UploadStates {
  readonly #folder: string | undefined;

  constructor(folder: string | undefined) {
    this.#folder = folder;
  }

  /** What is remembered of an upload of the same bytes, as far as their stamp tells; `undefined` if nothing. */
  async find(key: readonly string[], stamp: string): Promise<UploadState | undefined> {
    const path = this.#pathOf(key);
    const [first, ...others] = await linesOf(path);
    if (path === undefined || first === undefined || !("upload" in first)) return undefined;
    if (first.stamp !== stamp) return undefined;
    return stateAt(path, first.upload, stamp, others);
  }

  /** Begins to remember an upload. */
  async begin(key: readonly string[], stamp: string, id: string): Promise<UploadState> {
    const path = this.#pathOf(key);
    if (this.#folder !== undefined && path !== undefined) {
      await Deno.mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await Deno.writeTextFile(path, lineOf({ upload: id, stamp }), { mode: 0o600 });
    }
    return stateAt(path, id, stamp, []);
  }

  /** The version that came of an upload of the same bytes; `undefined` if that is not remembered. */
  async storedVersion(key: readonly string[], stamp: string): Promise<string | undefined> {
    const [first] = await linesOf(this.#pathOf(key));
    return first !== undefined && "done" in first && first.stamp === stamp ? first.done : undefined;
  }

  /** Forgets what no server can go on with any more. */
  async removeExpired(): Promise<void> {
    if (this.#folder === undefined) return;
    try {
      for await (const { name } of Deno.readDir(this.#folder)) {
        const path = join(this.#folder, name);
        const { mtime } = await Deno.stat(path);
        const age = Date.now() - (mtime?.getTime() ?? 0);
        if (name.endsWith(".jsonl") && age > UPLOAD_STATE_TIME) await Deno.remove(path);
      }
    } catch (error) {
      // Another one of us removes them as well.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }

  #pathOf(key: readonly string[]): string | undefined {
    return this.#folder === undefined
      ? undefined
      : join(this.#folder, `${stableName(...key)}.jsonl`);
  }
}

function stateAt(
  path: string | undefined,
  id: string,
  stamp: string,
  lines: readonly Line[],
): UploadState {
  const digests = new Map<number, string>();
  for (const line of lines) if ("part" in line) digests.set(line.part, line.sha256);
  return {
    id,
    digests,
    async note(part, sha256) {
      digests.set(part, sha256);
      if (path === undefined) return;
      await Deno.writeTextFile(path, lineOf({ part, sha256 }), { append: true });
    },
    async end(etag) {
      if (path === undefined) return;
      if (etag === undefined) await forget(path);
      else await Deno.writeTextFile(path, lineOf({ done: etag, stamp }));
    },
  };
}

async function forget(path: string): Promise<void> {
  try {
    await Deno.remove(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function lineOf(line: Line): string {
  return `${JSON.stringify(line)}\n`;
}

/** The lines of a state's file. One that was not written to its end is as good as none. */
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
