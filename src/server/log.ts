import { droppedLine, type LogFormat, RequestLog } from "../http/request_log.ts";
import { type LogFailure, type LogNotice, serverLog } from "../cli/terminal/output.ts";
import { deadline } from "@std/async/deadline";
import { MIB, SECOND } from "../rules/units.ts";

/** Bytes that a write to a pipe keeps together (POSIX, PIPE_BUF of Linux), also if other processes write to it. */
const PIPE_BUF = 4096;

/** Returns the format of the log of a program: text on a terminal, else JSON, unless configured. */
export function logFormatOf(
  { log, json }: { log: LogFormat | "off" | undefined; json: boolean },
): LogFormat | "off" {
  return log ?? (json || !Deno.stdout.isTerminal() ? "json" : "text");
}

/** Where a server reports its requests, failures and notices. */
export interface ServerLog {
  /** Absent if requests are not logged. */
  readonly requests: RequestLog | undefined;
  readonly onError: LogFailure;
  readonly onNotice: LogNotice;
  /** Returns the number of lines that were dropped because the reader was too slow. */
  dropped(): number;
  /** Starts to write the lines of requests, once nothing else is printed to the same place. */
  open(): void;
  /** Writes the rest. */
  close(): Promise<void>;
}

/**
 * Returns the log of a program: requests on standard output, the rest on standard error.
 *
 * @param format `off` leaves out the requests only.
 * @param processes The number of processes that write to the same place.
 */
export function standardLog(format: LogFormat | "off", processes = 1): ServerLog {
  const others = serverLog(format);
  if (format === "off") return { ...UNUSED, ...others };
  const maxWrite = processes === 1 ? undefined : PIPE_BUF;
  const writer = new LogWriter(Deno.stdout, (count) => droppedLine(format, count), maxWrite);
  return {
    ...others,
    requests: new RequestLog(format, (line) => writer.add(line)),
    dropped: () => writer.dropped,
    open: () => writer.open(),
    close: () => writer.close(),
  };
}

/** Returns a log that calls a function with each line, which is JSON. */
export function functionLog(log: (line: string) => void): ServerLog {
  const write = (line: string) => {
    try {
      log(line.trimEnd());
    } catch {
      // A log that fails must not fail requests.
    }
  };
  return { ...UNUSED, ...serverLog("json", write), requests: new RequestLog("json", write) };
}

const UNUSED = {
  requests: undefined,
  dropped: () => 0,
  open: () => {},
  close: () => Promise.resolve(),
};

/** A log that nothing reads. */
export const NO_LOG: ServerLog = { ...UNUSED, onError: () => {}, onNotice: () => {} };

/** Lines are written in batches: after this many milliseconds, or this many characters. */
const LOG_FLUSH_INTERVAL = 100;

export const LOG_FLUSH_SIZE = 65_536;

/** Characters that wait for a slow reader. Further lines are dropped and counted. */
export const MAX_LOG_QUEUE = 4 * MIB;

/** Milliseconds that the end of the program waits for a slow reader. */
const LOG_EXIT_TIME = SECOND;

/** The destination of lines, such as standard output. */
export interface LogTarget {
  /** Writes some of the bytes, and returns how many. */
  write(bytes: Uint8Array): Promise<number>;
}

/**
 * Writes lines in batches, since a write costs more than a request. A slow reader neither blocks the server nor grows its
 * memory: lines beyond `MAX_LOG_QUEUE` are dropped, and a line reports how many.
 */
export class LogWriter {
  /** The number of dropped lines. */
  dropped = 0;
  #queue = "";
  #queued = 0;
  #unreported = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | undefined;
  #isOpen = false;

  /**
   * @param droppedLine Returns the line that reports dropped lines.
   * @param maxWrite The most bytes of one write, so that lines of several processes are not mixed; a longer line is
   *   written alone.
   */
  constructor(
    private readonly target: LogTarget,
    private readonly droppedLine: (count: number) => string,
    private readonly maxWrite: number = Infinity,
  ) {}

  /** Starts to write. Until then lines wait, so that others can write to the same target. */
  open(): void {
    this.#isOpen = true;
    this.#writeSoon();
  }

  /** Adds a line, with its line feed. */
  add(line: string): void {
    if (this.#queue.length + line.length > MAX_LOG_QUEUE) return this.#drop(1);
    this.#queue += line;
    this.#queued++;
    if (this.#isOpen) this.#writeSoon();
  }

  /** Writes the remaining lines, for at most `LOG_EXIT_TIME`. */
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
      .then(() => this.#reportDropped())
      // The reader is gone, or the disk is full: the server continues.
      .catch(() => this.#drop(lines))
      .finally(() => {
        this.#writing = undefined;
        this.#writeSoon();
      });
  }

  async #send(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.byteLength > 0) {
      rest = rest.subarray(await this.target.write(firstLines(rest, this.maxWrite)));
    }
  }

  #drop(lines: number): void {
    this.dropped += lines;
    this.#unreported += lines;
  }

  /** Lines are dropped only while the queue is full, so their place in the log is here. */
  #reportDropped(): void {
    if (this.#unreported === 0) return;
    this.#queue += this.droppedLine(this.#unreported);
    this.#unreported = 0;
    this.#queued++;
  }
}

const LINE_FEED = 10;

/** Returns the lines at the beginning that have room in a number of bytes, at least one. */
function firstLines(bytes: Uint8Array, max: number): Uint8Array {
  if (bytes.byteLength <= max) return bytes;
  const fitting = bytes.lastIndexOf(LINE_FEED, max - 1);
  return bytes.subarray(0, (fitting < 0 ? bytes.indexOf(LINE_FEED) : fitting) + 1);
}

const encoder = new TextEncoder();
