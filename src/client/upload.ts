import type { Semaphore } from "../rules/concurrency.ts";
import { MAX_PARTS, MAX_PAYLOAD } from "../rules/payloads.ts";
import { formatBytes } from "../rules/units.ts";
import { type FilePart, splitParts } from "./api/content.ts";
import { sha256Of, type WriteOptions } from "./drives.ts";
import { ClientError, FileChanged, FileExists, Refused, RetriesExhausted } from "./errors.ts";
import type { RemoteDrives } from "./remote_drives.ts";
import type { Source } from "./local_files.ts";
import { stateAt, type UploadState, type UploadStates } from "./upload_states.ts";

export interface UploadTarget {
  drives: RemoteDrives;
  drive: string;
  name: string;
}

export interface UploadOptions extends WriteOptions {
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
 * @throws {FileChanged} if the source changed, or the file was written by another client at the same time.
 * @throws {FileExists} with `isNew`, if the file exists.
 */
export async function upload(
  target: UploadTarget,
  source: Source,
  options: UploadOptions,
): Promise<Uploaded> {
  const { drives, drive, name } = target;
  const { slots, onBytes } = options;
  const parts = splitParts(source.read(), MAX_PAYLOAD);
  const release = await slots.acquire();
  try {
    const { value: first } = await parts.next();
    if (first === undefined) throw new TypeError("There is always a first part");
    if (!first.isLast) {
      return await new MultipartUpload(target, source, options).send(first, release, parts);
    }
    await source.verify();
    await drives.putFile(drive, name, first.bytes, options);
    onBytes(first.bytes.byteLength);
    return { size: first.bytes.byteLength, resumed: 0 };
  } finally {
    release();
    await parts.return();
  }
}

class MultipartUpload {
  /** The SHA-256 of the parts that the server has, by number. */
  readonly #stored = new Map<number, string>();
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  #size = 0;
  #resumed = 0;

  constructor(
    private readonly target: UploadTarget,
    private readonly source: Source,
    private readonly options: UploadOptions,
  ) {}

  /** Sends the first part, whose slot is held, and the others. */
  async send(
    first: FilePart,
    release: () => void,
    others: AsyncGenerator<FilePart, void>,
  ): Promise<Uploaded> {
    await this.#requireNew();
    const state = await this.#open();
    try {
      const last = await this.#sendAll(state, first, release, others);
      if ([...this.#stored.keys()].some((part) => part > last)) {
        throw new FileChanged("The interrupted upload is one of a longer file: try again");
      }
      await this.source.verify();
      await this.#complete(state);
    } catch (error) {
      // The failure of the upload says more than one of the abort.
      if (this.#isFinal(error)) await this.#abort(state).catch(() => {});
      throw error;
    }
    return { size: this.#size, resumed: this.#resumed };
  }

  /** Reports whether the upload cannot be resumed after an error. Until it is aborted, its bytes count towards the quota. */
  #isFinal(error: unknown): boolean {
    if (error instanceof FileChanged || error instanceof FileExists) return true;
    // With another key, or after a wait, the same upload may go on.
    if (error instanceof Refused) {
      return error.status >= 400 && ![401, 403, 429].includes(error.status);
    }
    return this.source.identity === undefined && !(error instanceof RetriesExhausted);
  }

  /** Checks early what the last request enforces, so that no parts are sent in vain. */
  async #requireNew(): Promise<void> {
    const { drives, drive, name } = this.target;
    if (!this.options.isNew || await drives.stat(drive, name) === undefined) return;
    throw new FileExists();
  }

  /** @throws {Refused} if the quota has no room for the file, of which the server would learn only after many parts. */
  async #requireRoom(): Promise<void> {
    const { size } = this.source;
    if (size === undefined) return;
    const room = await this.target.drives.room();
    if (size <= room) return;
    throw new Refused(
      507,
      `The file has ${formatBytes(size)}, and the quota of the project has room for ${
        formatBytes(Math.max(0, room))
      }: delete files, empty the trash, or ask the administrator for more`,
      "quota_exceeded",
    );
  }

  /** Returns the interrupted upload if the server still has it, else a new one. */
  async #open(): Promise<UploadState> {
    const { drives, drive, name } = this.target;
    const { states, type } = this.options;
    const { stamp, identity } = this.source;
    const key = stateKey(this.target, this.source, type);
    const state = identity === undefined ? undefined : await states.find(key, stamp);
    const parts = state && await drives.partsOf(drive, name, state.id);
    if (state !== undefined && parts !== undefined) {
      for (const { part, sha256 } of parts) this.#stored.set(part, sha256);
      return state;
    }
    await this.#requireRoom();
    const id = await drives.startUpload(drive, name, this.options);
    return identity === undefined ? stateAt(undefined, id) : await states.begin(key, stamp, id);
  }

  /** Returns the number of the last part. A failure is thrown once all running requests have ended. */
  async #sendAll(
    state: UploadState,
    first: FilePart,
    releaseFirst: () => void,
    others: AsyncGenerator<FilePart, void>,
  ): Promise<number> {
    let part: FilePart | undefined = first;
    let release = releaseFirst;
    let last = 0;
    try {
      while (part !== undefined && this.#failure === undefined) {
        if (part.number > MAX_PARTS) {
          throw new ClientError(
            `The file is too large: it has more than ${MAX_PARTS} parts of 10 MB`,
          );
        }
        last = part.number;
        this.#start(state, part, release);
        release = await this.options.slots.acquire();
        part = this.#failure === undefined ? (await others.next()).value ?? undefined : undefined;
      }
    } finally {
      release();
      await Promise.all(this.#running);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return last;
  }

  #start(state: UploadState, part: FilePart, release: () => void): void {
    const running = this.#sendPart(state, part).catch((error: unknown) => {
      this.#failure ??= { error };
    }).finally(() => {
      this.#running.delete(running);
      release();
    });
    this.#running.add(running);
  }

  async #sendPart(state: UploadState, { number, bytes }: FilePart): Promise<void> {
    const { drives, drive, name } = this.target;
    const sha256 = sha256Of(bytes);
    // Both sides: another client may have sent other parts to the upload since.
    const isStored = this.#stored.get(number) === sha256 && state.digests.get(number) === sha256;
    if (isStored) {
      this.#resumed += bytes.byteLength;
    } else {
      await drives.putPart(drive, name, state.id, { number, bytes, sha256 });
      await state.addPart(number, sha256);
    }
    this.#size += bytes.byteLength;
    this.options.onBytes(bytes.byteLength);
  }

  async #complete(state: UploadState): Promise<void> {
    const { drives, drive, name } = this.target;
    const { isNew, remembersVersion = false } = this.options;
    await drives.complete(drive, name, state.id, isNew);
    const stored = await drives.stat(drive, name);
    await state.finish(remembersVersion ? stored?.etag : undefined);
    if (stored?.size !== this.#size) {
      throw new FileChanged("Another client wrote or deleted the file at the same time");
    }
  }

  async #abort(state: UploadState): Promise<void> {
    const { drives, drive, name } = this.target;
    await drives.abort(drive, name, state.id);
    await state.finish();
  }
}
