/**
 * Cursors: positions in the feed of a drive, as callers see them. A position has the versionstamp of a commit, which
 * counts the commits of the whole store. It is encrypted, so that a key which is limited to some names learns nothing
 * from it about the others.
 *
 * A cursor begins with a mark of the feed. The mark is another one after the feeds were turned off and on, and in a store
 * that was restored, where the same versionstamps come again for other commits.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type Cipheriv, createCipheriv, createDecipheriv, createHash } from "node:crypto";

/**
 * A place in a feed: the versionstamp of a commit, and one of its changes, counted from 1. The one of the newest change that
 * was removed is stored.
 */
export interface Position {
  stamp: string;
  index: number;
}

/** Before every change. */
export const BEGINNING: Position = { stamp: "0".repeat(20), index: 0 };

/** After every change of a commit. */
export const LAST_INDEX = 0xffff;

/** Returns a negative number if a position is before another one. */
export function comparePositions(a: Position, b: Position): number {
  if (a.stamp === b.stamp) return a.index - b.index;
  return a.stamp < b.stamp ? -1 : 1;
}

/** Bytes of a versionstamp, of an index and of what proves that a text was decrypted: one block of AES. */
const STAMP_BYTES = 10;
const INDEX_BYTES = 2;
const PROOF_BYTES = 4;
const BLOCK_BYTES = STAMP_BYTES + INDEX_BYTES + PROOF_BYTES;

/** Characters of the mark, and of a block in base64. */
const MARK_LENGTH = 6;
const CURSOR = /^[\w-]{28}$/;

/** One block with a key of its own is encrypted as it is: equal positions have equal cursors. */
const CIPHER = "aes-128-ecb";

/** Writes and reads the cursors of one drive. */
export class Cursors {
  readonly #mark: string;
  readonly #key: Buffer;
  readonly #proof: Buffer;
  #cipher: Cipheriv | undefined;

  /**
   * @param secret Of the project's feeds.
   * @param incarnation Of the store: another one after it was restored.
   */
  constructor(secret: string, incarnation: string, drive: string) {
    this.#mark = sha256("mark", secret, incarnation).toString("base64url").slice(0, MARK_LENGTH);
    this.#key = sha256("key", secret).subarray(0, BLOCK_BYTES);
    this.#proof = sha256("drive", drive).subarray(0, PROOF_BYTES);
  }

  write({ stamp, index }: Position): string {
    const block = Buffer.alloc(BLOCK_BYTES);
    block.write(stamp, 0, "hex");
    block.writeUInt16BE(index, STAMP_BYTES);
    this.#proof.copy(block, STAMP_BYTES + INDEX_BYTES);
    this.#cipher ??= createCipheriv(CIPHER, this.#key, null).setAutoPadding(false);
    return this.#mark + this.#cipher.update(block).toString("base64url");
  }

  /** Returns the position of a cursor, "other feed" for one of another feed, and `undefined` for any other text. */
  read(cursor: string): Position | "other feed" | undefined {
    if (!CURSOR.test(cursor)) return undefined;
    if (!cursor.startsWith(this.#mark)) return "other feed";
    const encrypted = Buffer.from(cursor.slice(MARK_LENGTH), "base64url");
    const decipher = createDecipheriv(CIPHER, this.#key, null).setAutoPadding(false);
    const block = decipher.update(encrypted);
    if (!block.subarray(STAMP_BYTES + INDEX_BYTES).equals(this.#proof)) return undefined;
    return {
      stamp: block.toString("hex", 0, STAMP_BYTES),
      index: block.readUInt16BE(STAMP_BYTES),
    };
  }
}

function sha256(...texts: string[]): Buffer {
  return createHash("sha256").update(JSON.stringify(texts)).digest();
}
