import { CHUNK } from "../drive/limits.ts";
import { QuotaExceeded } from "./errors.ts";
import { allows } from "./quota_account.ts";

/** Room for the bytes of one upload while they are received. Disposing of it gives the room back. */
export interface Room extends Disposable {
  /** The same bytes; those that were not announced need room as they come. @throws {QuotaExceeded} while they come. */
  watch(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Gives the room back, right before the bytes are committed: from then on the commit counts them. */
  release(): void;
}

/** Room in a project without a quota. */
export const NO_ROOM: Room = {
  watch: (body) => body,
  release: () => {},
  [Symbol.dispose]: () => {},
};

/** The account that an upload needs room in. All numbers are bytes. */
export interface RoomAccount {
  limit: number;
  /** The project's bytes as they were last seen, which costs no read; `undefined` where they were not. */
  seen(): number | undefined;
  /** Reads what the project has, and the size of what the upload replaces; `undefined` where there is no quota any more. */
  read(): Promise<{ used: number; limit: number; replaced: number } | undefined>;
  /** What all running uploads of this process were promised together. */
  promised(): number;
  /** Changes that sum. */
  promise(by: number): void;
}

/** Room in a project with a quota. Up to one chunk lies in memory until it is committed, so it is promised nothing. */
export class RunningRoom implements Room {
  readonly #account: RoomAccount;
  /** What the upload was promised. */
  #own = 0;
  /** The size of what it replaces, once that was read. */
  #replaced: number | undefined;

  constructor(account: RoomAccount) {
    this.#account = account;
  }

  /** @throws {QuotaExceeded} where so many bytes don't fit. */
  async announce(size: number): Promise<void> {
    await this.#raise(size);
  }

  async *watch(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const piece of body) {
      size += piece.byteLength;
      if (size > CHUNK) await this.#raise(size);
      yield piece;
    }
  }

  release(): void {
    this.#promise(0);
  }

  [Symbol.dispose](): void {
    this.release();
  }

  async #raise(size: number): Promise<void> {
    if (!this.#surelyFits(size)) {
      const account = await this.#account.read();
      if (account === undefined) return;
      // No other upload gets in between from here to the promise.
      const { limit, replaced } = account;
      const used = account.used + this.#others();
      const more = size - replaced;
      if (!allows({ used, limit }, more)) {
        // At once, so that of many that grow at the same time as many end well as can.
        this.release();
        throw new QuotaExceeded({ used, limit, more });
      }
      this.#replaced = replaced;
    }
    if (size > CHUNK) this.#promise(Math.max(this.#own, size - (this.#replaced ?? 0)));
  }

  #surelyFits(size: number): boolean {
    const seen = this.#account.seen();
    const isKnown = seen !== undefined && (size <= CHUNK || this.#replaced !== undefined);
    return isKnown && seen + this.#others() + size - (this.#replaced ?? 0) <= this.#account.limit;
  }

  #others(): number {
    return this.#account.promised() - this.#own;
  }

  #promise(bytes: number): void {
    this.#account.promise(bytes - this.#own);
    this.#own = bytes;
  }
}
