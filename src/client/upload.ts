import type { Semaphore } from "../rules/concurrency.ts";
import { MAX_PARTS, MAX_PAYLOAD, type PartSize } from "../rules/payloads.ts";
import { type Drives, sha256Of, type WriteOptions } from "./drives.ts";
import { ClientError, FileChanged, FileExists } from "./errors.ts";
import type { Source } from "./local_files.ts";
import type { UploadState, UploadStates } from "./upload_states.ts";

/** A part of a file, numbered from 1. */
interface CutPart {
  number: number;
  bytes: Uint8Array;
  isLast: boolean;
}

/** Cuts bytes into parts of one size, of which the last may be smaller; of no bytes it is one empty part. */
export async function* cutParts(
  pieces: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<CutPart, void> {
  let buffer = new Uint8Array(0);
  let filled = 0;
  let number = 1;
  for await (let piece of pieces) {
    while (piece.byteLength > 0) {
      if (filled === size) {
        yield { number: number++, bytes: buffer, isLast: false };
        buffer = new Uint8Array(size);
        filled = 0;
      }
      const taken = piece.subarray(0, size - filled);
      buffer = withRoom(buffer, filled, filled + taken.byteLength, size);
      buffer.set(taken, filled);
      filled += taken.byteLength;
      piece = piece.subarray(taken.byteLength);
    }
  }
  yield { number, bytes: buffer.subarray(0, filled), isLast: true };
}

/** Grows by doubling: most files are smaller than one part. */
function withRoom(
  buffer: Uint8Array<ArrayBuffer>,
  filled: number,
  needed: number,
  size: number,
): Uint8Array<ArrayBuffer> {
  if (needed <= buffer.byteLength) return buffer;
  const larger = new Uint8Array(Math.min(size, Math.max(needed, buffer.byteLength * 2)));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

/** Where a file goes. */
export interface UploadTarget {
  side: Drives;
  drive: string;
  name: string;
}

/** How it gets there. */
export interface UploadOptions extends WriteOptions {
  /** Parts and small files of all transfers that are in memory at once. */
  slots: Semaphore;
  states: UploadStates;
  /** Whether the version that came of a large file is remembered. */
  remembersEnd?: boolean;
  onBytes: (count: number) => void;
}

/** What was sent. */
export interface Uploaded {
  /** Bytes. */
  size: number;
  /** Bytes of them that the server had already. */
  resumed: number;
}

/** What an upload is remembered by. */
export function stateKey(
  { side, drive, name }: UploadTarget,
  source: Source,
  type: string,
): string[] {
  return [side.identity, drive, name, type, source.identity ?? ""];
}

/**
 * Sends a file: up to 10 MB in one request, more in parts, several at once. An upload that was interrupted goes on with
 * the parts that the server does not have. What changes while it is read is not stored.
 *
 * @throws {FileChanged}
 * @throws {FileExists}
 */
export async function upload(
  target: UploadTarget,
  source: Source,
  options: UploadOptions,
): Promise<Uploaded> {
  const { side, drive, name } = target;
  const { slots, onBytes } = options;
  const parts = cutParts(source.read(), MAX_PAYLOAD);
  const letGo = await slots.acquire();
  try {
    const { value: first } = await parts.next();
    if (first === undefined) throw new TypeError("There is always a first part");
    if (!first.isLast) {
      return await new PartsUpload(target, source, options).send(first, letGo, parts);
    }
    await source.verify();
    await side.putFile(drive, name, first.bytes, options);
    onBytes(first.bytes.byteLength);
    return { size: first.bytes.byteLength, resumed: 0 };
  } finally {
    letGo();
    await parts.return();
  }
}

/** An upload in parts. */
class PartsUpload {
  readonly #target: UploadTarget;
  readonly #source: Source;
  readonly #options: UploadOptions;
  readonly #there = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  #size = 0;
  #resumed = 0;

  constructor(target: UploadTarget, source: Source, options: UploadOptions) {
    this.#target = target;
    this.#source = source;
    this.#options = options;
  }

  /** Sends the first part, which has a slot, and the others. */
  async send(
    first: CutPart,
    letGo: () => void,
    others: AsyncGenerator<CutPart, void>,
  ): Promise<Uploaded> {
    await this.#demandNew();
    const state = await this.#open();
    const last = await this.#sendAll(state, first, letGo, others);
    if ([...this.#there.keys()].some((part) => part > last)) {
      await this.#giveUp(state);
      throw new FileChanged("The upload that was to go on is one of a longer file: try again");
    }
    try {
      await this.#source.verify();
    } catch (error) {
      if (error instanceof FileChanged) await this.#giveUp(state);
      throw error;
    }
    await this.#complete(state);
    return { size: this.#size, resumed: this.#resumed };
  }

  /** Decided for good with the last call; asked before, it spares parts that would be refused. */
  async #demandNew(): Promise<void> {
    const { side, drive, name } = this.#target;
    if (!this.#options.isNew || await side.stat(drive, name) === undefined) return;
    throw new FileExists();
  }

  /** The upload that was interrupted, if the server has it still, or a new one. */
  async #open(): Promise<UploadState> {
    const { side, drive, name } = this.#target;
    const { states, type } = this.#options;
    const { stamp, identity } = this.#source;
    const key = stateKey(this.#target, this.#source, type);
    const state = identity === undefined ? undefined : await states.find(key, stamp);
    const parts = state && await side.partsOf(drive, name, state.id);
    if (state !== undefined && parts !== undefined) {
      parts.forEach(({ part, size }: PartSize) => this.#there.set(part, size));
      return state;
    }
    const id = await side.startUpload(drive, name, type);
    const remembered = identity === undefined ? noStates : states;
    return await remembered.begin(key, stamp, id);
  }

  /** Gives the number of the last part. A failure is thrown when all that run have ended. */
  async #sendAll(
    state: UploadState,
    first: CutPart,
    letGoFirst: () => void,
    others: AsyncGenerator<CutPart, void>,
  ): Promise<number> {
    let part: CutPart | undefined = first;
    let letGo = letGoFirst;
    let last = 0;
    try {
      while (part !== undefined && this.#failure === undefined) {
        if (part.number > MAX_PARTS) {
          throw new ClientError(`It is larger than ${MAX_PARTS} parts of 10 MB: no drive takes it`);
        }
        last = part.number;
        this.#start(state, part, letGo);
        letGo = await this.#options.slots.acquire();
        part = this.#failure === undefined ? (await others.next()).value ?? undefined : undefined;
      }
    } finally {
      letGo();
      await Promise.all(this.#running);
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return last;
  }

  #start(state: UploadState, part: CutPart, letGo: () => void): void {
    const running = this.#sendPart(state, part).catch((error: unknown) => {
      this.#failure ??= { error };
    }).finally(() => {
      this.#running.delete(running);
      letGo();
    });
    this.#running.add(running);
  }

  async #sendPart(state: UploadState, { number, bytes }: CutPart): Promise<void> {
    const { side, drive, name } = this.#target;
    const sha256 = sha256Of(bytes);
    const isThere = this.#there.get(number) === bytes.byteLength &&
      state.digests.get(number) === sha256;
    if (isThere) {
      this.#resumed += bytes.byteLength;
    } else {
      await side.putPart(drive, name, state.id, { number, bytes, sha256 });
      await state.note(number, sha256);
    }
    this.#size += bytes.byteLength;
    this.#options.onBytes(bytes.byteLength);
  }

  async #complete(state: UploadState): Promise<void> {
    const { side, drive, name } = this.#target;
    const { isNew, remembersEnd = false } = this.#options;
    try {
      await side.complete(drive, name, state.id, { isNew });
    } catch (error) {
      if (error instanceof FileExists) await this.#giveUp(state);
      throw error;
    }
    const stored = await side.stat(drive, name);
    await state.end(remembersEnd ? stored?.etag : undefined);
    if (stored?.size !== this.#size) {
      throw new FileChanged("Somebody else wrote or deleted the file at the same time");
    }
  }

  async #giveUp(state: UploadState): Promise<void> {
    const { side, drive, name } = this.#target;
    await side.abort(drive, name, state.id);
    await state.end();
  }
}

const noStates: Pick<UploadStates, "begin"> = {
  begin: (_key, _stamp, id) =>
    Promise.resolve({
      id,
      digests: new Map(),
      note: () => Promise.resolve(),
      end: () => Promise.resolve(),
    }),
};
