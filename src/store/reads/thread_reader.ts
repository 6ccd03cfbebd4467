/**
 * Reads that may wait for the disk, or meet what it cannot read: in a thread, and never through a memory map.
 *
 * @module
 */
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { SECOND } from "../../rules/units.ts";
import { isLocked, LOCKED_RETRY_TIME } from "../disk/sqlite.ts";
import { encodeKey, type KvRow } from "./kv_encoding.ts";
import type { KvReader, ListOptions } from "./read_queue.ts";
import type { UnreadableEntries } from "./record_codec.ts";
import { entryOf, listEntries, type RowRange } from "./rows.ts";

/** How long the thread is kept for further reads, in milliseconds. */
const IDLE_TIME = 10 * SECOND;

/** How long a thread that waits for the disk may delay the end, in milliseconds. */
const CLOSE_TIME = SECOND;

/** The pause between two attempts to read a locked file, in milliseconds. */
const LOCKED_PAUSE = 20;

/** The rows of some keys, or those of a range, as they are at one moment. */
export type RowQuery = { keys: Uint8Array<ArrayBuffer>[] } | RowRange;

/** What the thread is told: a file first, then queries, at last to close the file. All but the first have an answer. */
export type RowMessage = { path: string } | RowQuery | "close";

/** Errors travel as text: structured clones lose their class. */
export type RowAnswer = { rows: (KvRow | undefined)[] } | { error: string };

/**
 * Reads the entries of a file with SQLite in a thread of its own, one after the other. Deno KV has such a thread, too,
 * but ends the process at a value that is marked as a counter and is none: one flipped bit makes it of a record.
 */
export class ThreadReader implements KvReader, AsyncDisposable {
  #worker: Worker | undefined;
  /** Reads that were sent to the thread, in their order. */
  #pending: PromiseWithResolvers<RowAnswer>[] = [];
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param path A file whose tables have the known form. */
  constructor(private readonly path: string, private readonly unreadable: UnreadableEntries) {}

  async get<T>(key: Deno.KvKey): Promise<Deno.KvEntryMaybe<T>> {
    const [entry] = await this.getMany<[T]>([key]);
    return entry;
  }

  async getMany<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: Deno.KvKey }],
  ): Promise<{ [K in keyof T]: Deno.KvEntryMaybe<T[K]> }> {
    const rows = await this.#read({ keys: keys.map(encodeKey) });
    return keys.map((key, i) => entryOf(key, rows[i], this.unreadable)) as never;
  }

  list<T>(
    selector: Deno.KvListSelector,
    options?: ListOptions,
  ): AsyncIterableIterator<Deno.KvEntry<T>> {
    const read = async (range: RowRange) => await this.#read(range) as KvRow[];
    return listEntries(read, this.unreadable, selector, options);
  }

  /** Closes the file, so that the connection that is closed last removes the log. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    // A thread that waits for the disk is ended without that.
    if (this.#worker !== undefined) await deadline(this.#ask("close"), CLOSE_TIME).catch(() => {});
    this.#end("The store is closed");
  }

  async #read(query: RowQuery): Promise<(KvRow | undefined)[]> {
    const deadline = performance.now() + LOCKED_RETRY_TIME;
    while (true) {
      const answer = await this.#send(query);
      if ("rows" in answer) return answer.rows;
      const error = new Error(answer.error);
      // Another process is repairing or closing the log, or no file descriptor is free.
      const mayPass = isLocked(error) || error.message.includes("unable to open database file");
      if (!mayPass || performance.now() >= deadline) throw error;
      await delay(LOCKED_PAUSE);
    }
  }

  async #send(query: RowQuery): Promise<RowAnswer> {
    if (this.#isClosed) throw new Error("The store is closed");
    return await this.#ask(query);
  }

  async #ask(message: RowQuery | "close"): Promise<RowAnswer> {
    clearTimeout(this.#idleTimer);
    const worker = this.#worker ??= this.#start();
    const answer = Promise.withResolvers<RowAnswer>();
    this.#pending.push(answer);
    worker.postMessage(message);
    return await answer.promise;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./row_worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<RowAnswer>) => {
      this.#pending.shift()?.resolve(data);
      if (this.#pending.length > 0) return;
      const timer = setTimeout(() => this.#end(""), IDLE_TIME);
      Deno.unrefTimer(timer);
      this.#idleTimer = timer;
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.#end(event.message);
    };
    worker.postMessage({ path: this.path } satisfies RowMessage);
    return worker;
  }

  /** Ends the thread. @param error What those get who wait for it. */
  #end(error: string): void {
    clearTimeout(this.#idleTimer);
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { resolve } of this.#pending.splice(0)) resolve({ error });
  }
}
