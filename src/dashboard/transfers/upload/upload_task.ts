import { ApiError, sentenceOf } from "../../core/api_error.ts";
import { formatBytes } from "../../core/format.ts";
import { inParallel, type Limiter } from "../../core/concurrency.ts";
import { MAX_FILE, missingParts, type PlannedPart, SINGLE_REQUEST } from "./parts.ts";
import type { UploadRecord, UploadRecords } from "./records.ts";
import { type ServerCalls, SMALL, type UploadTarget } from "./server_calls.ts";
import { Speedometer } from "./speedometer.ts";

/** The first and the longest wait before a request is sent again, in milliseconds. */
const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;

/** How long what was on its way before a pause may make no progress after it, in milliseconds. */
const STALL_TIME = 5000;

/** Why no further request of a paused upload is sent. */
const PAUSED = new DOMException("The upload is paused", "AbortError");

/** Attempts at a request that the server fails to handle: the reason may be the request itself. */
const FAILED_ATTEMPTS = 5;

/** `interrupted`: by the end of an earlier page; it continues when the user chooses the file again. */
export type UploadState =
  | "waiting"
  | "running"
  | "paused"
  | "interrupted"
  | "failed"
  | "done"
  | "canceled";

export type UploadCalls = Pick<ServerCalls, keyof ServerCalls>;

export interface UploadTools {
  server: UploadCalls;
  records: UploadRecords;
  /** Limits the requests of files that are not small. */
  requests: Limiter;
  tab: string;
  /** Waits after a failure, before the next attempt. @throws The signal's reason. */
  wait: (milliseconds: number, error: unknown, signal: AbortSignal) => Promise<void>;
  /** Stores a small picture of a file that was sent, if there can be one. It never throws. */
  addThumbnail: (target: UploadTarget, file: File, signal: AbortSignal) => Promise<void>;
  /** Called after every change of an upload. */
  onChange: () => void;
}

export interface UploadSource {
  file: File;
  target: UploadTarget;
  /** Whether a file of that name is replaced. */
  mayReplace: boolean;
  /** The folder that the file was chosen or dropped with: a whole name with a slash at its end. */
  folder?: string | undefined;
}

/** The upload of one file: in one request, or in parts of which those that the server has are not sent again. */
export class UploadTask {
  /** What the browser remembers of it if it is not finished. */
  readonly record: UploadRecord;
  state: UploadState = "waiting";
  /** Why it failed, or what it waits for. */
  message = "";
  /** The status of the answer that it failed with. */
  status = 0;
  /** Bytes sent, or being sent. */
  sent = 0;
  readonly speedometer = new Speedometer();
  /** The upload on the server that it uses, or used last. */
  usedId: string | undefined;
  /** Whether a request may be on its way: a paused upload lets it end. */
  isSending = false;
  /** Whether the browser remembers it. */
  isRecorded = false;
  #file: File | undefined;
  #controller = new AbortController();

  private constructor(record: Omit<UploadRecord, "tab">, private readonly tools: UploadTools) {
    this.record = { ...record, tab: tools.tab };
    this.usedId = record.uploadId;
  }

  static of({ file, target, mayReplace, folder }: UploadSource, tools: UploadTools): UploadTask {
    const { size, lastModified } = file;
    const task = new UploadTask({ ...target, size, lastModified, mayReplace, folder }, tools);
    task.#file = file;
    return task;
  }

  /** An upload of an earlier page, which needs its file. */
  static ofRecord(record: UploadRecord, tools: UploadTools): UploadTask {
    const task = new UploadTask(record, tools);
    task.state = "interrupted";
    task.isRecorded = true;
    return task;
  }

  /** Whether it waits for nothing but its turn, or runs. */
  get isActive(): boolean {
    return this.state === "waiting" || this.state === "running";
  }

  get isSmall(): boolean {
    return this.record.size <= SMALL;
  }

  /** Whether a file is the one that is sent, as far as its size and time tell. */
  isOf({ size, lastModified }: Pick<File, "size" | "lastModified">): boolean {
    return size === this.record.size && lastModified === this.record.lastModified;
  }

  /** Sends the file. Never throws: failures are in `state` and `message`. */
  async run(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    const { size } = file;
    const { signal } = this.#controller = new AbortController();
    this.speedometer.reset();
    this.isSending = true;
    this.#set("running");
    try {
      if (size > MAX_FILE) throw new Error(TOO_LARGE);
      await this.#send(file, signal);
      signal.throwIfAborted();
      // Before lists load the new file, so that they need not make one of the original.
      await this.tools.addThumbnail(this.record, file, signal);
      signal.throwIfAborted();
      this.sent = size;
      // A pasted image is held in memory.
      this.#file = undefined;
      this.#forget();
      this.#set("done");
    } catch (error) {
      if (!signal.aborted && error !== PAUSED) this.fail(error);
    } finally {
      this.isSending = false;
      this.tools.onChange();
    }
  }

  /** Sends the file, also if it is paused and resumed before what was on its way has ended. */
  async #send(file: File, signal: AbortSignal): Promise<void> {
    while (true) {
      try {
        if (file.size > SINGLE_REQUEST) await this.#sendInParts(file, signal);
        else await this.#sendWhole(file, signal);
        return;
      } catch (error) {
        if (error !== PAUSED || this.state === "paused") throw error;
      }
    }
  }

  /** Finds what the server has of an upload of an earlier page. @throws {ApiError} */
  async look(): Promise<void> {
    const { record, tools: { server } } = this;
    if (record.uploadId === undefined || this.state !== "interrupted") return;
    const { signal } = this.#controller;
    const parts = await server.parts(record, record.uploadId, signal);
    if (parts !== undefined) {
      this.sent = parts.reduce((sum, { size }) => sum + size, 0);
      this.tools.onChange();
    } else if (await server.etagOf(record, record, signal) !== undefined) {
      // The page ended before the answer came.
      this.sent = record.size;
      this.#forget();
      this.#set("done");
    }
  }

  fail(error: unknown): void {
    this.status = error instanceof ApiError ? error.status : 0;
    this.#set("failed", sentenceOf(error));
  }

  /** Sends nothing more until `resume`. What is on its way still arrives, and is kept. */
  pause(): void {
    if (this.isActive) this.#set("paused");
  }

  /** Stops it at once, as the page ends. Parts that the server has are kept. */
  stop(): void {
    this.pause();
    this.#stop();
  }

  /** Lets a paused, failed or interrupted upload run again. @param file The same file, if it was chosen again. */
  resume(file = this.#file): void {
    if (this.isActive || this.state === "done" || file === undefined) return;
    this.#file = file;
    if (this.isSending) return this.#continue();
    // Now this tab sends it.
    if (this.state === "interrupted") this.tools.records.save([this.record]);
    this.#set("waiting");
  }

  /** Goes on before what was on its way has ended. If that makes no progress, it is sent again. */
  #continue(): void {
    this.#set("running");
    const { sent } = this;
    setTimeout(() => {
      if (!this.isSending || this.state !== "running" || this.sent !== sent) return;
      this.#set("waiting");
      this.#stop();
    }, STALL_TIME);
  }

  /** Ends it, also on the server. */
  cancel(): void {
    if (this.state === "done" || this.state === "canceled") return;
    this.#set("canceled");
    this.#stop();
    this.#forget();
    const { uploadId } = this.record;
    if (uploadId === undefined) return;
    // If that fails, the server removes the upload when it expires.
    this.tools.server.abort(this.record, uploadId).catch(() => {});
  }

  #stop(): void {
    this.#controller.abort(new DOMException("The upload was stopped", "AbortError"));
  }

  #forget(): void {
    if (this.isRecorded) this.tools.records.remove(this.record);
    this.isRecorded = false;
  }

  async #sendWhole(file: File, signal: AbortSignal): Promise<void> {
    const { lastModified } = file;
    const onProgress = (bytes: number) => this.#count(bytes);
    await this.#store(
      file,
      signal,
      (server, mayReplace) =>
        server.put(this.record, file, { mayReplace, lastModified, signal, onProgress }),
    );
  }

  async #sendInParts(file: File, signal: AbortSignal): Promise<void> {
    const { server } = this.tools;
    const [id, missing] = await this.#open(file, signal);
    const sent = new Map<number, number>();
    let sum = file.size - missing.reduce((sum, { start, end }) => sum + end - start, 0);
    const count = (part: number, bytes: number) => {
      sum += bytes - (sent.get(part) ?? 0);
      sent.set(part, bytes);
      this.#count(sum);
    };
    this.#count(sum);
    await inParallel(missing, async ({ part, start, end }) => {
      const body = file.slice(start, end);
      const onProgress = (bytes: number) => count(part, bytes);
      await this.#retrying(async () => {
        onProgress(0);
        await server.putPart(this.record, id, { part, body, signal, onProgress });
      }, signal);
      onProgress(end - start);
    });
    await this.#store(
      file,
      signal,
      (server, mayReplace) => server.complete(this.record, id, { mayReplace, signal }),
    );
    this.record.uploadId = undefined;
  }

  /** Opens the upload, or continues the earlier one if the server still has it. Returns its id and the parts to send. */
  async #open(file: File, signal: AbortSignal): Promise<[id: string, missing: PlannedPart[]]> {
    const { server, records } = this.tools;
    const known = this.record.uploadId;
    if (known !== undefined) {
      const stored = await this.#retrying(() => server.parts(this.record, known, signal), signal);
      if (stored !== undefined) return [known, missingParts(file.size, stored)];
    }
    const id = await this.#retrying(() => server.start(this.record, file, signal), signal);
    this.record.uploadId = this.usedId = id;
    records.save([this.record]);
    this.isRecorded = true;
    return [id, missingParts(file.size)];
  }

  /**
   * Stores the file with a last request. A file of that name may have appeared since the user was asked, unless it is this
   * one: an answer may get lost.
   */
  async #store(
    file: File,
    signal: AbortSignal,
    send: (server: UploadCalls, mayReplace: boolean) => Promise<void>,
  ): Promise<void> {
    const { server } = this.tools;
    try {
      await this.#retrying(() => send(server, this.record.mayReplace), signal);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const find = () => server.etagOf(this.record, file, signal);
      const stored = await this.#retrying(find, signal).catch(() => undefined);
      signal.throwIfAborted();
      if (stored !== undefined) return;
      this.record.mayReplace = true;
      throw new Error(TAKEN);
    }
  }

  /** Sends a request until it succeeds, or fails for a reason that does not pass. */
  async #retrying<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { requests, wait } = this.tools;
    for (let attempt = 1;; attempt++) {
      try {
        const send = () => {
          if (this.state === "paused") throw PAUSED;
          return action();
        };
        const result = await (this.isSmall ? send() : requests.run(send, signal));
        if (attempt > 1) this.#say("");
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (error === PAUSED) throw error;
        const milliseconds = waitAfter(error, attempt);
        if (milliseconds === undefined) throw error;
        // Browsers report a file that cannot be read like a network that failed.
        if (!await isReadable(this.#file)) throw new Error(UNREADABLE);
        this.#say(`${sentenceOf(error)}: trying again`);
        await wait(milliseconds, error, signal);
      }
    }
  }

  #count(bytes: number): void {
    this.sent = bytes;
    this.speedometer.read(bytes);
    this.tools.onChange();
  }

  #say(message: string): void {
    this.message = message;
    this.tools.onChange();
  }

  #set(state: UploadState, message = ""): void {
    this.state = state;
    this.#say(message);
  }
}

/**
 * Returns how long to wait before a request is sent again, in milliseconds; `undefined` if that is of no use.
 *
 * @param attempt The number of attempts so far.
 */
function waitAfter(error: unknown, attempt: number): number | undefined {
  if (!(error instanceof ApiError) || !error.isTemporary) return undefined;
  if (error.status === 500 && attempt >= FAILED_ATTEMPTS) return undefined;
  const growing = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1));
  return Math.max(growing, (error.retryAfter ?? 0) * 1000);
}

async function isReadable(file: Blob | undefined): Promise<boolean> {
  try {
    await file?.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

const TOO_LARGE = `The file is larger than ${formatBytes(MAX_FILE)}, the limit of one upload`;
const TAKEN = "Another file got this name meanwhile. Retry replaces it";
const UNREADABLE = "The file was changed, moved or deleted: choose it again";
