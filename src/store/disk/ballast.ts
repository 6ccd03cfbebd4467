import { join } from "@std/path";
import { fileSize, isOutOfSpace, makePrivate, PRIVATE_MODE } from "./durable_file.ts";
import { type FreeBytes, freeBytesOf } from "./volume.ts";

/** What the names of its pieces in the data folder begin with; a number follows. */
const NAME = "kvdrive.ballast-";

/**
 * Bytes of the ballast, and of one piece of it. A deletion adds some 50 KB to the store's log, and without a long read
 * transaction a checkpoint needs some 5 MB more for the store's file.
 */
export const BALLAST_BYTES = 16 * 2 ** 20;
const PIECE_BYTES = 2 * 2 ** 20;
const PIECES = BALLAST_BYTES / PIECE_BYTES;

/** Pieces that work in the background leaves for calls of users. */
export const PIECES_FOR_USERS = PIECES / 2;

/** Free bytes below which a disk counts as full: an empty log and its index take 70 KB when the store is opened. */
const FULL_BELOW = 2 ** 20;

/** The file that holds what a checkpoint of a long log will need. */
const GROWTH_NAME = "kvdrive.ballast-growth";

/** Milliseconds after which it is held again once it was given up: a checkpoint may be using the space. */
const GROWTH_PAUSE = 60_000;

/** Bytes in one call of `crypto.getRandomValues` (its limit). */
const RANDOM_BYTES = 65_536;

/**
 * Files that hold space of the store's disk. When the disk is full they are given up piece by piece, so that deletions can
 * be committed; a piece also gives back an inode. Their bytes are random: file systems that compress would not allocate
 * space for zeros.
 */
export class Ballast {
  readonly #data: string;
  readonly #freeBytes: FreeBytes;
  /** How many pieces this process gave up. */
  #givenUp = 0;
  #isNeeded = false;
  #growthGivenUpAt = -Infinity;

  /** @param data The data folder. */
  constructor(data: string) {
    this.#data = data;
    this.#freeBytes = freeBytesOf(data);
  }

  /** How many pieces this process has given up so far. */
  get givenUp(): number {
    return this.#givenUp;
  }

  /** Whether a piece was given up since the ballast was last complete: its space is for deletions and not for uploads. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /** Whether its disk has no space left; `false` if that cannot be found out. */
  async isDiskFull(): Promise<boolean> {
    const free = await this.#freeBytes();
    return free !== undefined && free < FULL_BELOW;
  }

  /** How many bytes of it are missing. */
  async missing(): Promise<number> {
    let missing = BALLAST_BYTES;
    for (const path of this.#paths()) if (await isWhole(path)) missing -= PIECE_BYTES;
    return missing;
  }

  /**
   * Writes the pieces that are missing, as far as there is space. Throws what the system throws for other reasons; a piece
   * that is not whole is removed.
   */
  async take(): Promise<void> {
    for (const path of this.#paths()) {
      if (await isWhole(path)) await makePrivate([path]);
      else if (!await writePiece(path)) return;
    }
  }

  /** There is room for uploads again. */
  forgetNeed(): void {
    this.#isNeeded = false;
  }

  /** Bytes that are held for a checkpoint. */
  async growthHeld(): Promise<number> {
    return await fileSize(this.#growthPath) ?? 0;
  }

  /** Holds so many bytes for a checkpoint, as far as there is space; 0 holds none. */
  async holdGrowth(bytes: number): Promise<void> {
    const path = this.#growthPath;
    if (bytes === 0) return void removed(path);
    if (performance.now() - this.#growthGivenUpAt < GROWTH_PAUSE) return;
    const held = await this.growthHeld();
    if (held >= bytes) return;
    await makePrivate([path]);
    await append(path, { append: true, create: true, mode: PRIVATE_MODE }, bytes - held);
  }

  /** Gives up what is held for a checkpoint; returns `false` if that is nothing. */
  giveUpGrowth(): boolean {
    if (!removed(this.#growthPath)) return false;
    this.#growthGivenUpAt = performance.now();
    return true;
  }

  /**
   * Gives up one piece; returns `false` if there is none. It does not wait for anything, so that the operation that needs
   * the space comes first.
   *
   * @param kept How many pieces stay.
   */
  giveUp(kept = 0): boolean {
    this.#isNeeded = true;
    // What a checkpoint needs comes last: while a reader keeps the log from being checkpointed, it would be lost to others.
    const isGivenUp = [...this.#paths()].slice(kept).reverse().some(removed) ||
      kept === 0 && this.giveUpGrowth();
    if (isGivenUp) this.#givenUp++;
    return isGivenUp;
  }

  get #growthPath(): string {
    return join(this.#data, GROWTH_NAME);
  }

  *#paths(): Generator<string> {
    for (let piece = 1; piece <= PIECES; piece++) yield join(this.#data, NAME + piece);
  }
}

async function isWhole(path: string): Promise<boolean> {
  return await fileSize(path) === PIECE_BYTES;
}

/** Returns `false` if there is no space for it. */
async function writePiece(path: string): Promise<boolean> {
  removed(path);
  try {
    const options = { write: true, createNew: true, mode: PRIVATE_MODE };
    if (await append(path, options, PIECE_BYTES)) return true;
    removed(path);
    return false;
  } catch (error) {
    // Another server on the same folder writes it.
    if (error instanceof Deno.errors.AlreadyExists) return true;
    removed(path);
    throw error;
  }
}

/** Adds random bytes to a file; returns `false` if there is no space for all of them. */
async function append(path: string, options: Deno.OpenOptions, size: number): Promise<boolean> {
  try {
    using file = await Deno.open(path, options);
    const bytes = new Uint8Array(RANDOM_BYTES);
    for (let left = size; left > 0; left -= RANDOM_BYTES) {
      crypto.getRandomValues(bytes);
      let rest = bytes.subarray(0, left);
      while (rest.byteLength > 0) rest = rest.subarray(await file.write(rest));
    }
    // Until then some file systems have promised the space and not allocated it.
    await file.syncData();
    return true;
  } catch (error) {
    if (isOutOfSpace(error)) return false;
    throw error;
  }
}

/** Removes a file; returns `false` if it is not there or cannot be removed, as one that was made immutable. */
function removed(path: string): boolean {
  try {
    Deno.removeSync(path);
    return true;
  } catch {
    return false;
  }
}
