import { deadline } from "@std/async/deadline";
import { MIB, SECOND } from "../../rules/units.ts";

/** Lines of the request log are written together: at the latest after this time, or with this many characters. */
const LOG_FLUSH_INTERVAL = 100;

export const LOG_FLUSH_SIZE = 65_536;

/** Characters of the log that wait for a reader that takes none. Lines beyond are counted and left out. */
export const MAX_LOG_QUEUE = 4 * MIB;

/** How long the end of the program waits for such a reader. */
const LOG_EXIT_TIME = SECOND;

/** Where lines go, such as standard output. */
export interface LogTarget {
  /** Writes some of the bytes and gives how many. */
  write(bytes: Uint8Array): Promise<number>;
}

/**
 * Writes lines together, since each write costs more than a request. Whoever reads them slowly, or not at all, neither
 * stops the server nor takes its memory: lines that find no room are counted, and a line tells how many they were.
 */
export class LogWriter {
  /** Lines that were left out. */
  dropped = 0;
  readonly #target: LogTarget;
  readonly #droppedLine: (count: number) => string;
  #queue = "";
  #queued = 0;
  #untold = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #isOpen = false;

  /** @param droppedLine The line that tells of lines that were left out. */
  constructor(target: LogTarget, droppedLine: (count: number) => string) {
    this.#target = target;
    this.#droppedLine = droppedLine;
  }

  /** Begins to write. Before, lines wait, so that others can write to the same place. */
  open(): void {
    this.#isOpen = true;
    this.#writeSoon();
  }

  /** Takes a line, with its end. */
  add(line: string): void {
    if (this.#queue.length + line.length > MAX_LOG_QUEUE) return this.#drop(1);
    this.#queue += line;
    this.#queued++;
    if (this.#isOpen) this.#writeSoon();
  }

  /** Writes what is left, where it is taken within `LOG_EXIT_TIME`. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    try {
      await deadline(this.#writeAll(), LOG_EXIT_TIME);
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "TimeoutError")) throw error;
    } finally {
      clearTimeout(this.#timer);
    }
  }

  #writeSoon(): void {
    if (this.#writing !== undefined || this.#queue === "") return;
    if (this.#queue.length >= LOG_FLUSH_SIZE) this.#write();
    else this.#timer ??= setTimeout(() => this.#write(), LOG_FLUSH_INTERVAL);
  }

  async #writeAll(): Promise<void> {
    while (this.#writing !== undefined || this.#queue !== "") {
      if (this.#writing === undefined) this.#write();
      await this.#writing;
    }
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#writing !== undefined) return;
    const text = this.#queue;
    const lines = this.#queued;
    this.#queue = "";
    this.#queued = 0;
    this.#writing = this.#send(encoder.encode(text))
      .then(() => this.#tellDropped())
      // The reader is gone, or the disk full: the server is none the worse for it.
      .catch(() => this.#drop(lines))
      .finally(() => {
        this.#writing = undefined;
        this.#writeSoon();
      });
  }

  async #send(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.byteLength > 0) rest = rest.subarray(await this.#target.write(rest));
  }

  #drop(lines: number): void {
    this.dropped += lines;
    this.#untold += lines;
  }

  /** Lines were dropped only while the queue was full, so this is where they would stand. */
  #tellDropped(): void {
    if (this.#untold === 0) return;
    this.#queue += this.#droppedLine(this.#untold);
    this.#untold = 0;
    this.#queued++;
  }
}

const encoder = new TextEncoder();
