import type { MemoryPart, MemoryShare } from "../engine/memory_budget.ts";
import { CHUNK_SIZE } from "../engine/records.ts";

/** Pieces of a file that a download asks for at once, if the memory budget has room; one such batch is read ahead. */
export const MAX_READ_BATCH = 64;

type Piece = Uint8Array<ArrayBuffer>;

/** Reads the pieces from one index up to, and without, another. */
type Read = (from: number, to: number) => Promise<Piece[]>;

/** Where pieces come from, and what a reader gets of them. */
export interface Pieces {
  read: Read;
  /** What is given of a piece. */
  give: (piece: Piece, index: number) => Piece | Promise<Piece>;
}

/**
 * How often readers are looked at, in milliseconds. A reader that has taken no piece since the last look loses what was
 * read ahead for it, and has it read again when it goes on: few readers are that slow, and hostile ones are slower.
 */
const STALL_TIME = 1000;

/** How many times larger than the one before a batch is, for a reader that keeps taking. */
const GROWTH = 16;

/** All readers of large files in this process, and the memory that they share. */
export class ReadAheads {
  readonly #memory: MemoryPart;
  readonly #watched = new Set<ReadAhead>();
  readonly #watch = {
    add: (reader: ReadAhead) => this.#add(reader),
    delete: (reader: ReadAhead) => this.#delete(reader),
  };
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(memory: MemoryPart) {
    this.#memory = memory;
  }

  /**
   * Memory for one more reader of a project: one piece, and more while there is some.
   *
   * @throws {MemoryExhausted} where there is no room for a piece for too long.
   */
  async open(project: string): Promise<ReadAhead> {
    return new ReadAhead(await this.#memory.reserve(project, CHUNK_SIZE), this.#watch);
  }

  #add(reader: ReadAhead): void {
    this.#watched.add(reader);
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => {
      for (const each of this.#watched) each.dropIfStalled();
    }, STALL_TIME);
    Deno.unrefTimer(this.#timer);
  }

  #delete(reader: ReadAhead): void {
    this.#watched.delete(reader);
    if (this.#watched.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Who looks after readers that have pieces in memory which they did not take yet. */
interface Watch {
  add(reader: ReadAhead): void;
  delete(reader: ReadAhead): void;
}

/** Pieces that are being read while earlier ones are taken. */
interface Batch {
  count: number;
  pieces: Promise<Piece[]>;
}

/**
 * Reads pieces for one reader: the first alone, then batches that grow, of which one is read while the one
 * before is taken. `#memory` holds the piece that is given next, and what was read or is being read beyond that.
 */
export class ReadAhead implements Disposable {
  readonly #memory: MemoryShare;
  readonly #watch: Watch;
  #pieces: Piece[] = [];
  #next: Batch | undefined;
  #size = 1;
  #isWaiting = false;
  #taken = 0;
  #takenBefore = -1;

  /** @param memory Room for one piece. */
  constructor(memory: MemoryShare, watch: Watch) {
    this.#memory = memory;
    this.#watch = watch;
  }

  /** The pieces from an index up to `last`. What `read` throws is thrown where the first missing piece would come. */
  async *read(from: number, last: number, { read, give }: Pieces): AsyncGenerator<Piece> {
    for (let index = from; index < last; index++) {
      const piece = this.#takeRead() ?? await this.#fetch(index, last, read);
      yield give(piece, index);
      this.#taken++;
      this.#beginNext(index + 1 + this.#pieces.length, last, read);
    }
  }

  /** Drops what was read ahead if nothing was taken since the last call. */
  dropIfStalled(): void {
    const isStalled = !this.#isWaiting && this.#taken === this.#takenBefore;
    this.#takenBefore = this.#taken;
    if (isStalled) this.#drop();
  }

  /** Gives the memory back. */
  [Symbol.dispose](): void {
    this.#drop();
    this.#memory[Symbol.dispose]();
  }

  #takeRead(): Piece | undefined {
    const piece = this.#pieces.shift();
    if (piece !== undefined) this.#memory.shrink(CHUNK_SIZE);
    return piece;
  }

  /** Waits for the batch that begins at the index, and gives its first piece. */
  async #fetch(index: number, last: number, read: Read): Promise<Piece> {
    this.#isWaiting = true;
    try {
      const next = this.#next;
      this.#next = undefined;
      if (next === undefined) return await this.#fetchNow(index, last, read);
      try {
        this.#pieces = await next.pieces;
      } catch (error) {
        this.#memory.shrink(next.count * CHUNK_SIZE);
        throw error;
      }
      const piece = this.#takeRead();
      if (piece === undefined) throw new TypeError("A batch has at least one piece");
      return piece;
    } finally {
      this.#isWaiting = false;
    }
  }

  async #fetchNow(index: number, last: number, read: Read): Promise<Piece> {
    const wanted = Math.min(this.#size, last - index) - 1;
    const more = this.#memory.grow(wanted, CHUNK_SIZE);
    if (more > 0) this.#watch.add(this);
    try {
      const [first, ...rest] = await read(index, index + 1 + more);
      if (first === undefined) throw new TypeError("A batch has at least one piece");
      this.#pieces = rest;
      return first;
    } catch (error) {
      this.#memory.shrink(more * CHUNK_SIZE);
      throw error;
    }
  }

  #beginNext(index: number, last: number, read: Read): void {
    if (this.#next !== undefined || index >= last) return;
    const size = Math.min(GROWTH * this.#size, MAX_READ_BATCH);
    const count = this.#memory.grow(Math.min(size, last - index), CHUNK_SIZE);
    this.#size = Math.max(1, Math.min(size, count));
    if (count === 0) return;
    this.#watch.add(this);
    const pieces = read(index, index + count);
    // A reader that leaves does not wait for it; one that stays gets the error when it comes to it.
    pieces.catch(() => {});
    this.#next = { count, pieces };
  }

  #drop(): void {
    this.#watch.delete(this);
    this.#memory.shrink(this.#pieces.length * CHUNK_SIZE);
    this.#pieces = [];
    const next = this.#next;
    this.#next = undefined;
    this.#size = 1;
    if (next === undefined) return;
    // It takes memory until it has been read.
    const giveBack = () => this.#memory.shrink(next.count * CHUNK_SIZE);
    next.pieces.then(giveBack, giveBack);
  }
}
