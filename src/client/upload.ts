import { join } from "@std/path/join";
import type { Semaphore } from "../rules/concurrency.ts";
import { utcTime } from "../rules/dates.ts";
import { formatBytes } from "../rules/units.ts";
import { put, type UploadMemory } from "./api/upload.ts";
import type { InterruptedUpload } from "./api/uploads.ts";
import { fileChanged, fileExists, hasStatus, isTemporary, KvdriveError } from "./errors.ts";
import type { RemoteDrives } from "./drives.ts";
import { removeIfExists, type Source } from "./local_files.ts";
import { stableName } from "../rules/archive/local_paths.ts";

export interface UploadTarget {
  drives: RemoteDrives;
  drive: string;
  name: string;
}

export interface UploadOptions {
  type: string;
  /** When the sent copy was last modified, in milliseconds since 1970; `undefined` if that is not known. */
  mtime?: number | undefined;
  /** Whether the write fails if the file exists. */
  isNew: boolean;
  /** Limits the parts and small files that all transfers hold in memory. */
  slots: Semaphore;
  states: UploadStates;
  /** Whether the version that a multipart upload produced is remembered. */
  remembersVersion?: boolean;
  /** Receives the count of bytes as they are stored. */
  onBytes: (count: number) => void;
}

export interface Uploaded {
  /** Bytes of the file. */
  size: number;
  /** Bytes of them that an interrupted upload had stored before. */
  resumed: number;
}

/** Returns the key under which the state of an upload is remembered. */
export function stateKey(
  { drives, drive, name }: UploadTarget,
  source: Source,
  type: string,
): string[] {
  return [drives.identity, drive, name, type, source.identity ?? ""];
}

/**
 * Sends a file: up to 10 MB in one request, more in concurrent parts. An interrupted upload is resumed with the missing
 * parts. A file that changes while it is read is not stored.
 *
 * @throws {KvdriveError} with the status 412, as `fileExists` makes it, with `isNew`, if the file exists.
 */
export async function upload(
  target: UploadTarget,
  source: Source,
  options: UploadOptions,
): Promise<Uploaded> {
  const { drives, drive, name } = target;
  const { type: contentType, mtime, isNew, slots, onBytes } = options;
  const memory = new StateFile(target, source, options);
  let sent = 0;
  try {
    const { size, resumed } = await put(
      drives.connection.transport,
      { drive, name },
      source.read(),
      {
        contentType,
        // A time that the server does not accept is left out.
        mtime: mtime === undefined ? undefined : utcTime(mtime),
        ifNoneMatch: isNew ? "*" : undefined,
        onProgress: (progress) => {
          onBytes(progress.sent - sent);
          sent = progress.sent;
        },
      },
      { slots, memory, verify: () => source.verify() },
    );
    await memory.finish(size);
    return { size, resumed };
  } catch (error) {
    throw hasStatus(error, 412) ? fileExists() : error;
  }
}

/** Remembers an upload in parts on this machine. */
class StateFile implements UploadMemory {
  /** That of an upload in parts, once it is open. */
  #state: UploadState | undefined;

  constructor(
    private readonly target: UploadTarget,
    private readonly source: Source,
    private readonly options: UploadOptions,
  ) {}

  /** Returns the interrupted upload if the server still has it. @throws {KvdriveError} if there is no room for a new one. */
  async find(): Promise<InterruptedUpload | undefined> {
    const { drives, drive, name } = this.target;
    const { stamp, identity } = this.source;
    const state = identity === undefined
      ? undefined
      : await this.options.states.find(this.#key, stamp);
    const open = state && await drives.drive(drive).uploads.get(state.id, name);
    if (state === undefined || open === undefined) {
      await this.#requireRoom();
      return undefined;
    }
    this.#state = state;
    // Both sides: another client may have sent other parts to the upload since.
    const parts = new Map(state.digests);
    for (const part of parts.keys()) {
      if (!open.parts.some((one) => one.part === part && one.sha256 === parts.get(part))) {
        parts.delete(part);
      }
    }
    return { id: state.id, parts, compared: new Map<number, number>(), isOwn: true };
  }

  async begin(id: string): Promise<void> {
    const { stamp, identity } = this.source;
    this.#state = identity === undefined
      ? stateAt(undefined, id)
      : await this.options.states.begin(this.#key, stamp, id);
  }

  async addPart(part: number, sha256 = ""): Promise<void> {
    await this.#state?.addPart(part, sha256);
  }

  /** Until an upload that cannot go on is aborted, its bytes count towards the quota. */
  isOver(error: unknown): boolean {
    if (isTemporary(error)) return false;
    // With another key, or after a wait, the same upload may go on.
    if (hasStatus(error, 401, 403, 429)) return false;
    return this.source.identity === undefined ||
      (error instanceof KvdriveError && error.status >= 400);
  }

  async forget(): Promise<void> {
    await this.#state?.finish();
  }

  /** Forgets the upload. @throws {KvdriveError} if the file was written by another client at the same time. */
  async finish(size: number): Promise<void> {
    if (this.#state === undefined) return;
    const { drives, drive, name } = this.target;
    const stored = await drives.stat(drive, name);
    await this.#state.finish(this.options.remembersVersion ? stored?.etag : undefined);
    if (stored?.size !== size) {
      throw fileChanged("Another client wrote or deleted the file at the same time");
    }
  }

  get #key(): string[] {
    return stateKey(this.target, this.source, this.options.type);
  }

  /** @throws {KvdriveError} if the quota has no room for the file, of which the server would learn only after many parts. */
  async #requireRoom(): Promise<void> {
    const { size } = this.source;
    if (size === undefined) return;
    const room = await this.target.drives.room();
    if (size <= room) return;
    throw new KvdriveError(
      `The file has ${formatBytes(size)}, and the quota of the project has room for ${
        formatBytes(Math.max(0, room))
      }: delete files, empty the trash, or ask the administrator for more`,
      { status: 507, code: "quota_exceeded" },
    );
  }
}

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
