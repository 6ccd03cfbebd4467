import type { UploadTarget } from "./server_calls.ts";

/** An upload that this browser has not finished. It has no secret: without a session it opens nothing. */
export interface UploadRecord extends UploadTarget {
  /** Bytes of the file. */
  size: number;
  /** Of the local file, in milliseconds since 1970. */
  lastModified: number;
  mayReplace: boolean;
  /** The tab that sends it. */
  tab: string;
  /** The upload in parts on the server, once there is one. */
  uploadId?: string | undefined;
  /** The folder that it was chosen or dropped with: a whole name with a slash at its end. */
  folder?: string | undefined;
}

const KEY = "kvdrive.uploads";

/** Uploads that are remembered; the oldest are dropped. */
export const MAX_RECORDS = 500;

/** The unfinished uploads, in the browser's storage. If that is full, nothing is remembered. */
export class UploadRecords {
  constructor(private readonly storage: Pick<Storage, "getItem" | "setItem">) {}

  /** The oldest first. */
  all(): UploadRecord[] {
    try {
      const stored = JSON.parse(this.storage.getItem(KEY) ?? "[]");
      return Array.isArray(stored) ? stored.filter(isRecord) : [];
    } catch {
      // What others wrote, or an unreadable storage, counts as empty.
      return [];
    }
  }

  /** Remembers uploads, in place of earlier ones for the same names. */
  save(records: readonly UploadRecord[]): void {
    if (records.length === 0) return;
    const names = new Set(records.map(keyOf));
    const others = this.all().filter((record) => !names.has(keyOf(record)));
    this.#write([...others, ...records].slice(-MAX_RECORDS));
  }

  remove(target: UploadTarget): void {
    const key = keyOf(target);
    this.#write(this.all().filter((record) => keyOf(record) !== key));
  }

  #write(records: readonly UploadRecord[]): void {
    try {
      this.storage.setItem(KEY, JSON.stringify(records));
    } catch {
      // The upload itself does not need the record.
    }
  }
}

/** Returns a text that is different for each target. */
export function keyOf({ project, drive, name }: UploadTarget): string {
  return JSON.stringify([project, drive, name]);
}

function isRecord(value: unknown): value is UploadRecord {
  const { project, drive, name, tab, size, lastModified } = Object(value);
  return [project, drive, name, tab].every((text) => typeof text === "string") &&
    [size, lastModified].every((number) => typeof number === "number");
}
