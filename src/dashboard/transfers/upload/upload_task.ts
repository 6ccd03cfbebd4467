import { ApiError, sentenceOf } from "../../core/api_error.ts";
import { MAX_FILE, missingParts, PART_SIZE, planParts, SINGLE_REQUEST } from "./parts.ts";
import type { UploadRecord, UploadRecords } from "./records.ts";
import { eachOf, type Limiter, waitAfter } from "./schedule.ts";
import type { ServerCalls, UploadTarget } from "./server_calls.ts";
import { Speedometer } from "./speedometer.ts";

/** Requests with a body at once: browsers open six connections to a server, and lists need some of them. */
export const REQUESTS_AT_ONCE = 4;

/** `interrupted`: by the end of an earlier page; it continues when the user chooses the file again. */
export type UploadState =
  | "waiting"
  | "running"
  | "paused"
  | "interrupted"
  | "failed"
  | "done"
  | "canceled";

export type UploadCalls = Pick<
  ServerCalls,
  "put" | "start" | "parts" | "putPart" | "complete" | "abort" | "has"
>;

/** What the uploads of a page share. */
export interface UploadTools {
  server: UploadCalls;
  records: UploadRecords;
  requests: Limiter;
  /** The id of this tab. */
  tab: string;
  /** Waits after a failure, before the next attempt. @throws The signal's reason. */
  wait: (milliseconds: number, error: unknown, signal: AbortSignal) => Promise<void>;
  /** Called after every change of an upload. */
  onChange: (task: UploadTask) => void;
}

/** A file and where it goes. */
export interface UploadSource {
  file: File;
  target: UploadTarget;
  /** Whether a file of that name is replaced. */
  mayReplace: boolean;
}

/** The upload of one file: in one request, or in parts of which those that the server has are not sent again. */
export class UploadTask {
  readonly target: UploadTarget;
  readonly size: number;
  readonly lastModified: number;
  state: UploadState = "waiting";
  /** Why it failed, or what it waits for. */
  message = "";
  /** The status of the answer that it failed with. */
  status = 0;
  /** Bytes sent, or being sent. */
  sent = 0;
  readonly speedometer = new Speedometer();
  /** Whether the browser remembers it. */
  isRecorded = false;
  #file: File | undefined;
  #mayReplace: boolean;
  #uploadId: string | undefined;
  #partSize = PART_SIZE;
  #controller = new AbortController();

  private constructor(
    { target, size, lastModified, mayReplace }: Omit<UploadRecord, "project" | "drive" | "name"> & {
      target: UploadTarget;
    },
    private readonly tools: UploadTools,
  ) {
    this.target = target;
    this.size = size;
    this.lastModified = lastModified;
    this.#mayReplace = mayReplace;
  }

  static of({ file, target, mayReplace }: UploadSource, tools: UploadTools): UploadTask {
    const { size, lastModified } = file;
    const task = new UploadTask({ target, size, lastModified, mayReplace, tab: tools.tab }, tools);
    task.#file = file;
    return task;
  }

  /** An upload of an earlier page, which needs its file. */
  static ofRecord(record: UploadRecord, tools: UploadTools): UploadTask {
    const { project, drive, name, uploadId, partSize = PART_SIZE } = record;
    const task = new UploadTask({ ...record, target: { project, drive, name } }, tools);
    task.state = "interrupted";
    task.#uploadId = uploadId;
    task.#partSize = partSize;
    task.isRecorded = true;
    return task;
  }

  /** The server's id of the upload in parts, once there is one. */
  get uploadId(): string | undefined {
    return this.#uploadId;
  }

  /** Whether it waits for nothing but its turn, or runs. */
  get isActive(): boolean {
    return this.state === "waiting" || this.state === "running";
  }

  /** What is to be remembered of it. */
  get record(): UploadRecord {
    const { target, size, lastModified } = this;
    const record = { ...target, size, lastModified, mayReplace: this.#mayReplace };
    const id = this.#uploadId;
    const upload = id === undefined ? {} : { uploadId: id, partSize: this.#partSize };
    return { ...record, tab: this.tools.tab, ...upload };
  }

  /** Whether a file is the one that is sent, as far as its size and time tell. */
  isOf({ size, lastModified }: Pick<File, "size" | "lastModified">): boolean {
    return size === this.size && lastModified === this.lastModified;
  }

  /** Sends the file. Never throws: failures are in `state` and `message`. */
  async run(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    const { signal } = this.#controller = new AbortController();
    this.speedometer.reset();
    this.#set("running");
    try {
      if (this.size > MAX_FILE) throw new Error(TOO_LARGE);
      if (this.size > SINGLE_REQUEST) await this.#sendInParts(file, signal);
      else await this.#sendWhole(file, signal);
      signal.throwIfAborted();
      this.sent = this.size;
      // A pasted image is held in memory.
      this.#file = undefined;
      this.#forget();
      this.#set("done");
    } catch (error) {
      if (signal.aborted) return;
      this.fail(error);
    }
  }

  fail(error: unknown): void {
    this.status = error instanceof ApiError ? error.status : 0;
    this.#set("failed", sentenceOf(error));
  }

  /** Stops it until `resume`. Parts that the server has are kept. */
  pause(): void {
    if (!this.isActive) return;
    this.#set("paused");
    this.#stop();
  }

  /** Lets a paused, failed or interrupted upload run again. @param file The same file, if it was chosen again. */
  resume(file = this.#file): void {
    if (this.isActive || this.state === "done" || file === undefined) return;
    this.#file = file;
    // Now this tab sends it.
    if (this.state === "interrupted") this.tools.records.save([this.record]);
    this.#set("waiting");
  }

  /** Ends it, also on the server. */
  cancel(): void {
    if (this.state === "done" || this.state === "canceled") return;
    this.#set("canceled");
    this.#stop();
    this.#forget();
    if (this.#uploadId === undefined) return;
    // If that fails, the server removes the upload when it expires.
    this.tools.server.abort(this.target, this.#uploadId).catch(() => {});
  }

  #stop(): void {
    this.#controller.abort(new DOMException("The upload was stopped", "AbortError"));
  }

  #forget(): void {
    if (this.isRecorded) this.tools.records.remove(this.target);
    this.isRecorded = false;
  }

  async #sendWhole(file: File, signal: AbortSignal): Promise<void> {
    const { server } = this.tools;
    const options = {
      type: file.type,
      lastModified: file.lastModified,
      signal,
      onProgress: (bytes: number) => this.#count(bytes),
    };
    await this.#unlessTaken(file, signal, () =>
      this.#retrying(
        () => server.put(this.target, file, { ...options, mayReplace: this.#mayReplace }),
        signal,
      ));
  }

  async #sendInParts(file: File, signal: AbortSignal): Promise<void> {
    const { server } = this.tools;
    const plan = await this.#open(file, signal);
    const id = this.#uploadId ?? "";
    const sent = new Map<number, number>();
    let sum = this.size - plan.reduce((sum, { start, end }) => sum + end - start, 0);
    const count = (part: number, bytes: number) => {
      sum += bytes - (sent.get(part) ?? 0);
      sent.set(part, bytes);
      this.#count(sum);
    };
    this.#count(sum);
    await eachOf(plan, REQUESTS_AT_ONCE, async ({ part, start, end }) => {
      const body = file.slice(start, end);
      const onProgress = (bytes: number) => count(part, bytes);
      await this.#retrying(async () => {
        onProgress(0);
        await server.putPart(this.target, id, { part, body, signal, onProgress });
      }, signal);
      onProgress(end - start);
    });
    await this.#unlessTaken(file, signal, () =>
      this.#retrying(
        () => server.complete(this.target, id, { mayReplace: this.#mayReplace, signal }),
        signal,
      ));
    this.#uploadId = undefined;
  }

  /** Opens the upload, or continues the earlier one if the server still has it. Returns the parts to send. */
  async #open(file: File, signal: AbortSignal) {
    const { server, records } = this.tools;
    const known = this.#uploadId;
    if (known !== undefined) {
      const stored = await this.#retrying(() => server.parts(this.target, known, signal), signal);
      if (stored !== undefined) return missingParts(planParts(this.size, this.#partSize), stored);
    }
    this.#partSize = PART_SIZE;
    this.#uploadId = await this.#retrying(() => server.start(this.target, file, signal), signal);
    records.save([this.record]);
    this.isRecorded = true;
    return planParts(this.size, PART_SIZE);
  }

  /** A file of that name appeared since the user was asked, unless it is this one: an answer may get lost. */
  async #unlessTaken(file: File, signal: AbortSignal, store: () => Promise<void>): Promise<void> {
    try {
      await store();
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const has = () => this.tools.server.has(this.target, file, signal);
      const isStored = await this.#retrying(has, signal).catch(() => false);
      signal.throwIfAborted();
      if (isStored) return;
      this.#mayReplace = true;
      throw new Error(TAKEN);
    }
  }

  /** Sends a request until it succeeds, or fails for a reason that does not pass. */
  async #retrying<T>(action: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { requests, wait } = this.tools;
    for (let attempt = 1;; attempt++) {
      try {
        const result = await requests.run(action, signal);
        if (attempt > 1) this.#say("");
        return result;
      } catch (error) {
        signal.throwIfAborted();
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
    this.tools.onChange(this);
  }

  #say(message: string): void {
    this.message = message;
    this.tools.onChange(this);
  }

  #set(state: UploadState, message = ""): void {
    this.state = state;
    this.#say(message);
  }
}

async function isReadable(file: Blob | undefined): Promise<boolean> {
  try {
    await file?.slice(0, 1).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

const TOO_LARGE = "The file is larger than 97 GiB, the limit of one upload";
const TAKEN = "Another file got this name meanwhile. Retry replaces it";
const UNREADABLE = "The file was changed, moved or deleted: choose it again";
