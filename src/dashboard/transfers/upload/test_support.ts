import { ApiError } from "../../core/api_error.ts";
import { Limiter } from "../../core/concurrency.ts";
import type { StoredPart } from "./parts.ts";
import { UploadRecords } from "./records.ts";
import type { Sending } from "./server_calls.ts";
import { type UploadCalls, UploadTask, type UploadTools } from "./upload_task.ts";

/** A storage of one test. */
export function memoryStorage(): Pick<Storage, "getItem" | "setItem"> & { text(): string } {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    text: () => [...values.values()].join(),
  };
}

/** A server of uploads. It records calls, and can be told to refuse some. */
export class FakeServer implements UploadCalls {
  readonly calls: string[] = [];
  /** Sizes by name. */
  readonly files = new Map<string, number>();
  /** Sizes of parts, by upload. */
  readonly uploads = new Map<string, Map<number, number>>();
  /** Calls that never end by themselves. */
  readonly hanging = new Set<string>();
  readonly #refusals = new Map<string, ApiError[]>();

  refuse(call: string, status: number, times = 1): void {
    const error = new ApiError(status, `${status}`);
    this.#refusals.set(call, Array.from({ length: times }, () => error));
  }

  put: UploadCalls["put"] = async ({ name }, file, { mayReplace, ...sending }) => {
    await this.#transfer("put", file, sending);
    if (!mayReplace && this.files.has(name)) throw new ApiError(412, "taken");
    this.files.set(name, file.size);
  };

  start: UploadCalls["start"] = async () => {
    await this.#answer("start");
    const id = `u${this.uploads.size + 1}`;
    this.uploads.set(id, new Map());
    return id;
  };

  parts: UploadCalls["parts"] = async (_target, id) => {
    await this.#answer("parts");
    const parts = this.uploads.get(id);
    return parts === undefined
      ? undefined
      : [...parts].map(([part, size]): StoredPart => ({ part, size }));
  };

  putPart: UploadCalls["putPart"] = async (_target, id, { part, body, ...sending }) => {
    await this.#transfer(`part ${part}`, body, sending);
    this.uploads.get(id)?.set(part, body.size);
  };

  complete: UploadCalls["complete"] = async ({ name }, id) => {
    await this.#answer("complete");
    const sizes = [...this.uploads.get(id)?.values() ?? []];
    this.files.set(name, sizes.reduce((sum, size) => sum + size, 0));
    this.uploads.delete(id);
  };

  abort: UploadCalls["abort"] = async (_target, id) => {
    await this.#answer("abort");
    this.uploads.delete(id);
  };

  etagOf: UploadCalls["etagOf"] = ({ name }, { size }) =>
    Promise.resolve(this.files.get(name) === size ? "etag" : undefined);

  async #transfer(call: string, body: Blob, { signal, onProgress }: Sending): Promise<void> {
    onProgress(Math.ceil(body.size / 2));
    await this.#answer(call, signal);
    onProgress(body.size);
  }

  async #answer(call: string, signal?: AbortSignal): Promise<void> {
    this.calls.push(call);
    await Promise.resolve();
    if (this.hanging.has(call)) {
      await new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    }
    const refusal = this.#refusals.get(call)?.shift();
    if (refusal !== undefined) throw refusal;
  }
}

/** What uploads need, without waits. */
export function toolsOf(
  server: FakeServer,
  records = new UploadRecords(memoryStorage()),
  waits: number[] = [],
): UploadTools {
  return {
    server,
    records,
    requests: new Limiter(4),
    tab: "t",
    wait: (milliseconds: number) => Promise.resolve(void waits.push(milliseconds)),
    addThumbnail: () => Promise.resolve(),
    onChange: () => {},
  };
}

export function fileOf(size: number, lastModified = 1): File {
  return new File([new Uint8Array(size)], "film.mp4", { lastModified });
}

export const TARGET = { project: "p", drive: "d", name: "film.mp4" };

export function taskOf(file: File, tools: UploadTools, mayReplace = false): UploadTask {
  return UploadTask.of({ file, target: TARGET, mayReplace }, tools);
}
