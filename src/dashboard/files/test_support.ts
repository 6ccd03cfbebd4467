import { ApiError } from "../core/api_error.js";
import type { SendOptions } from "../core/types.d.ts";
import { Limiter } from "./limiter.js";
import { ResumeRecords } from "./resume_records.js";
import type { UploadApi, UploadDependencies } from "./upload_task.js";

/** An in-memory `Storage` for one test. */
export function memoryStorage(): Pick<Storage, "getItem" | "setItem"> & { text(): string } {
  const values = new Map<string, string>();
  return {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    text: () => [...values.values()].join(),
  };
}

/** A fake of the upload API. It records calls, and can be told to refuse some. */
export class FakeServer {
  readonly calls: string[] = [];
  readonly files = new Map<string, number>();
  readonly uploads = new Map<string, Map<number, number>>();
  /** Errors to throw, by the call that they are for. */
  readonly refusals = new Map<string, ApiError[]>();
  /** Calls that never end by themselves. */
  readonly hanging = new Set<string>();
  most = 0;
  private running = 0;

  refuse(call: string, status: number, times = 1): void {
    this.refusals.set(call, Array.from({ length: times }, () => new ApiError(status, `${status}`)));
  }

  readonly api: UploadApi = {
    putFile: async (project, drive, name, body, options) => {
      await this.transfer("put", body, options);
      this.files.set(name, body.size);
      return { name, project_id: project, drive_name: drive };
    },
    startUpload: async (_project, _drive, name) => {
      await this.answer("start");
      const upload_id = `u${this.uploads.size + 1}`;
      this.uploads.set(upload_id, new Map());
      return { name, upload_id };
    },
    uploadState: async (project_id, drive_name, upload_id, name) => {
      await this.answer("state");
      const parts = this.uploads.get(upload_id);
      if (parts === undefined) throw new ApiError(404, "There is no such upload");
      return {
        ...{ project_id, drive_name, upload_id, name, created: "", expires: "" },
        parts: [...parts].map(([part, size]) => ({ part, size })),
      };
    },
    putPart: async (_project, _drive, { id, part }, body, options) => {
      await this.transfer(`part ${part}`, body, options);
      this.uploads.get(id)?.set(part, body.size);
      return { part };
    },
    completeUpload: async (_project, _drive, id, name) => {
      await this.answer("complete");
      const sizes = [...this.uploads.get(id)?.values() ?? []];
      this.files.set(name, sizes.reduce((sum, size) => sum + size, 0));
      this.uploads.delete(id);
    },
    abortUpload: async (_project, _drive, id) => {
      await this.answer("abort");
      this.uploads.delete(id);
    },
  };

  private async transfer(call: string, body: Blob, options: SendOptions = {}): Promise<void> {
    this.running++;
    this.most = Math.max(this.most, this.running);
    try {
      options.onProgress?.(Math.ceil(body.size / 2));
      await this.answer(call, options.signal);
      options.onProgress?.(body.size);
    } finally {
      this.running--;
    }
  }

  private async answer(call: string, signal?: AbortSignal): Promise<void> {
    this.calls.push(call);
    await Promise.resolve();
    if (this.hanging.has(call)) {
      await new Promise((_, reject) => {
        signal?.addEventListener("abort", () => reject(signal.reason));
      });
    }
    const refusal = this.refusals.get(call)?.shift();
    if (refusal !== undefined) throw refusal;
  }
}

/** Dependencies of an upload, without waits. */
export function dependenciesOf(
  server: FakeServer,
  records = new ResumeRecords(memoryStorage()),
): UploadDependencies {
  return { api: server.api, records, requests: new Limiter(4), wait: () => Promise.resolve() };
}

export function fileOf(size: number, name = "film.mp4", lastModified = 1): File {
  return new File([new Uint8Array(size)], name, { lastModified });
}

export const PLACE = { project: "p", drive: "d", name: "film.mp4" };
