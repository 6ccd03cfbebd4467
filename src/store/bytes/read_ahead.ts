import type { MemoryPart, MemoryShare } from "../engine/memory_budget.ts";
import { CHUNK_SIZE } from "../engine/records.ts";

/** Pieces in one batch of a download, if the memory budget has room. One such batch is read ahead; more is not faster. */
export const READ_BATCH = 16;

type Piece = Uint8Array<ArrayBuffer>;

/** Reads the pieces from one index (included) to another (excluded). */
type Read = (from: number, to: number) => Promise<Piece[]>;

/** The source of a download's pieces. */
export interface Pieces {
  read: Read;
  /** Returns a piece in the form for the download, if it need not be read. */
  known?: (index: number) => Piece | undefined;
  /** Returns a piece that was read in the form for the download. */
  prepare: (piece: Piece, index: number) => Piece | Promise<Piece>;
}

/**
 * Interval at which a reader is checked, in milliseconds. One that has taken no piece since the last check loses
 * the pieces that were read ahead; they are read again when it continues. Few readers are that slow, and hostile ones
 * are slower.
 */
const STALL_CHECK_INTERVAL = 1000;

/** Pieces that are being read while earlier ones are sent. */
interface Batch {
  count: number;
  pieces: Promise<Piece[]>;
}

/**
 * Reads pieces for one reader: first one piece, then batches, of which one is read while the previous one is sent. `#memory` accounts for the piece that is sent next and for everything beyond it that is read or being read.
 */
export class ReadAhead implements Disposable {
  #pieces: Piece[] = [];
  #next: Batch | undefined;
  #size = 1;
  #isWaiting = false;
  #taken = 0;
  #takenBefore = -1;
  /** Runs while there are pieces that were not taken yet. */
  #stallCheck: ReturnType<typeof setInterval> | undefined;

  /** @param memory Room for one piece. */
  private constructor(private readonly memory: MemoryShare) {}

  /**
   * Reserves memory for another reader of a project: one piece, and more while there is some.
   *
   * @param more Bytes that the reader needs besides, until it is disposed of.
   * @throws {MemoryExhausted} if no memory for a piece becomes free in time.
   */
  static async open(memory: MemoryPart, project: string, more = 0): Promise<ReadAhead> {
    return new ReadAhead(await memory.reserve(project, CHUNK_SIZE + more));
  }

  /**
   * Yields the pieces from an index to `last` (excluded). Throws what `read` throws in place of the first missing
   * piece.
   */
  async *read(from: number, last: number, { read, known, prepare }: Pieces): AsyncGenerator<Piece> {
    for (let index = from; index < last; index++) {
      const isAhead = this.#pieces.length > 0 || this.#next !== undefined;
      const piece = isAhead ? undefined : known?.(index);
      if (piece === undefined) {
        yield prepare(this.#takeRead() ?? await this.#fetch(index, last, read), index);
      } else {
        yield piece;
      }
      this.#taken++;
      const next = index + 1 + this.#pieces.length;
      if (known?.(next) === undefined) this.#beginNext(next, last, read);
    }
  }

  #watchForStall(): void {
    if (this.#stallCheck !== undefined) return;
    this.#stallCheck = setInterval(() => this.dropIfStalled(), STALL_CHECK_INTERVAL);
    Deno.unrefTimer(this.#stallCheck);
  }

  /** Drops the pieces that were read ahead if none was taken since the last call. */
  dropIfStalled(): void {
    const isStalled = !this.#isWaiting && this.#taken === this.#takenBefore;
    this.#takenBefore = this.#taken;
    if (isStalled) this.#drop();
  }

  /** Releases the memory. */
  [Symbol.dispose](): void {
    this.#drop();
    this.memory[Symbol.dispose]();
  }

  #takeRead(): Piece | undefined {
    const piece = this.#pieces.shift();
    if (piece !== undefined) this.memory.shrink(CHUNK_SIZE);
    return piece;
  }

  /** Waits for the batch that begins at the index. Returns its first piece. */
  async #fetch(index: number, last: number, read: Read): Promise<Piece> {
    this.#isWaiting = true;
    try {
      const next = this.#next;
      this.#next = undefined;
      if (next === undefined) return await this.#fetchNow(index, last, read);
      try {
        this.#pieces = await next.pieces;
      } catch (error) {
        this.memory.shrink(next.count * CHUNK_SIZE);
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
    const more = this.memory.grow(wanted, CHUNK_SIZE);
    if (more > 0) this.#watchForStall();
    try {
      const [first, ...rest] = await read(index, index + 1 + more);
      if (first === undefined) throw new TypeError("A batch has at least one piece");
      this.#pieces = rest;
      return first;
    } catch (error) {
      this.memory.shrink(more * CHUNK_SIZE);
      throw error;
    }
  }

  #beginNext(index: number, last: number, read: Read): void {
    if (this.#next !== undefined || index >= last) return;
    const wanted = Math.min(READ_BATCH, last - index);
    const count = this.memory.grow(wanted, CHUNK_SIZE);
    // The end of a file says nothing about the memory for the next one.
    this.#size = count === wanted ? READ_BATCH : Math.max(1, count);
    if (count === 0) return;
    this.#watchForStall();
    const pieces = read(index, index + count);
    // A reader that stops never awaits it; one that goes on gets the error at the right piece.
    pieces.catch(() => {});
    this.#next = { count, pieces };
  }

  #drop(): void {
    clearInterval(this.#stallCheck);
    this.#stallCheck = undefined;
    this.memory.shrink(this.#pieces.length * CHUNK_SIZE);
    this.#pieces = [];
    const next = this.#next;
    this.#next = undefined;
    this.#size = 1;
    if (next === undefined) return;
    // A batch that is being read takes memory until it has been read.
    const release = () => this.memory.shrink(next.count * CHUNK_SIZE);
    next.pieces.then(release, release);
  }
}
