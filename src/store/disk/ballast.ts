import { join } from "@std/path/join";
import { KIB, MIB, MINUTE } from "../../rules/units.ts";
import { fileSize, isOutOfSpace, makePrivate, PRIVATE_MODE } from "./durable_file.ts";
import { freeBytesOf, type FreeBytesQuery } from "./volume.ts";

/** The names of its pieces in the data folder; a number follows. */
const PIECE_NAME = "kvdrive.ballast-";

/**
 * Bytes of the ballast and of one piece. A deletion adds some 50 KB to the store's log, and without a long read
 * transaction a checkpoint needs some 5 MB for the store's file.
 */
export const BALLAST_BYTES = 16 * MIB;
const PIECE_BYTES = 2 * MIB;
const PIECES = BALLAST_BYTES / PIECE_BYTES;

/** Pieces that background work leaves for requests. */
export const PIECES_FOR_USERS = PIECES / 2;

/** Free bytes below which a disk counts as full: an empty log and its index take 70 KB when the store is opened. */
const FULL_BELOW = MIB;

/** The file that holds the space of the next checkpoint of a long log. */
const GROWTH_NAME = "kvdrive.ballast-growth";

/** Milliseconds until that space is held again after it was given up: a checkpoint may be using it. */
const GROWTH_PAUSE = MINUTE;

/** Bytes in one call of `crypto.getRandomValues`, at most. */
const RANDOM_BYTES = 64 * KIB;

/**
 * Files that occupy space of the store's disk. On a full disk they are given up piece by piece, so that deletions can
 * be committed; each piece also frees an inode. Their bytes are random, because file systems that compress would
 * allocate nothing for zeros.
 */
export class Ballast {
  readonly #freeBytes: FreeBytesQuery;
  #givenUp = 0;
  #isNeeded = false;
  #growthGivenUpAt = -Infinity;

  /** @param data The data folder. */
  constructor(private readonly data: string) {
    this.#freeBytes = freeBytesOf(data);
  }

  /** How many pieces this process has given up so far. */
  get givenUp(): number {
    return this.#givenUp;
  }

  /** Whether a piece was given up since the ballast was last complete: its space is for deletions, not for uploads. */
  get isNeeded(): boolean {
    return this.#isNeeded;
  }

  /** Returns whether the disk has no space left; `false` if that is not known. */
  async isDiskFull(): Promise<boolean> {
    const free = await this.#freeBytes();
    return free !== undefined && free < FULL_BELOW;
  }

  /** Returns how many bytes of the ballast are missing. */
  async missing(): Promise<number> {
    let missing = BALLAST_BYTES;
    for (const path of this.#paths()) if (await isWhole(path)) missing -= PIECE_BYTES;
    return missing;
  }

  /**
   * Writes the missing pieces until the disk is full. An incomplete piece is removed.
   *
   * @throws for failures of the system other than a full disk.
   */
  async refill(): Promise<void> {
    for (const path of this.#paths()) {
      if (await isWhole(path)) await makePrivate([path]);
      else if (!await writePiece(path)) return;
    }
  }

  /** Resets `isNeeded`: there is room for uploads again. */
  forgetNeed(): void {
    this.#isNeeded = false;
  }

  /** Returns the bytes that are held for a checkpoint. */
  async growthHeld(): Promise<number> {
    return await fileSize(this.#growthPath) ?? 0;
  }

  /** Holds `bytes` for a checkpoint, or as many as there is space for; 0 releases them. */
  async holdGrowth(bytes: number): Promise<void> {
    const path = this.#growthPath;
    if (bytes === 0) return void removed(path);
    if (performance.now() - this.#growthGivenUpAt < GROWTH_PAUSE) return;
    const held = await this.growthHeld();
    if (held >= bytes) return;
    await makePrivate([path]);
    await append(path, { append: true, create: true, mode: PRIVATE_MODE }, bytes - held);
  }

  /** Gives up the space that is held for a checkpoint; returns `false` if there is none. */
  giveUpGrowth(): boolean {
    if (!removed(this.#growthPath)) return false;
    this.#growthGivenUpAt = performance.now();
    return true;
  }

  /**
   * Gives up one piece; returns `false` if there is none. Synchronous, so that no other program takes the space before
   * the operation that needs it.
   *
   * @param kept How many pieces stay.
   */
  giveUp(kept = 0): boolean {
    this.#isNeeded = true;
    // The checkpoint's space goes last: while a reader blocks the checkpoint, other programs would take it.
    const isGivenUp = [...this.#paths()].slice(kept).reverse().some(removed) ||
      kept === 0 && this.giveUpGrowth();
    if (isGivenUp) this.#givenUp++;
    return isGivenUp;
  }

  get #growthPath(): string {
    return join(this.data, GROWTH_NAME);
  }

  *#paths(): Generator<string> {
    for (let piece = 1; piece <= PIECES; piece++) yield join(this.data, PIECE_NAME + piece);
  }
}

async function isWhole(path: string): Promise<boolean> {
  return await fileSize(path) === PIECE_BYTES;
}

/** Returns `false` if there is no space for the piece. */
async function writePiece(path: string): Promise<boolean> {
  removed(path);
  try {
    const options = { write: true, createNew: true, mode: PRIVATE_MODE };
    if (await append(path, options, PIECE_BYTES)) return true;
    removed(path);
    return false;
  } catch (error) {
    // Another server on the same folder is writing it.
    if (error instanceof Deno.errors.AlreadyExists) return true;
    removed(path);
    throw error;
  }
}

/** Appends random bytes to a file; returns `false` if there is no space for all of them. */
async function append(path: string, options: Deno.OpenOptions, size: number): Promise<boolean> {
  try {
    using file = await Deno.open(path, options);
    const bytes = new Uint8Array(RANDOM_BYTES);
    for (let left = size; left > 0; left -= RANDOM_BYTES) {
      crypto.getRandomValues(bytes);
      let rest = bytes.subarray(0, left);
      while (rest.byteLength > 0) rest = rest.subarray(await file.write(rest));
    }
    // Some file systems allocate the space only now.
    await file.syncData();
    return true;
  } catch (error) {
    if (isOutOfSpace(error)) return false;
    throw error;
  }
}

/** Removes a file; returns `false` if it does not exist or cannot be removed, such as an immutable one. */
function removed(path: string): boolean {
  try {
    Deno.removeSync(path);
    return true;
  } catch {
    return false;
  }
}
