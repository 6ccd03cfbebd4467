import { createHash } from "node:crypto";
import type { PartSize } from "../rules/payloads.ts";
import type { Retrier } from "./retrier.ts";

/** A file of a drive as lists tell it. */
export interface FileInfo {
  name: string;
  /** Bytes. */
  size: number;
  type: string;
  /** Another one with every write. */
  etag: string;
  /** Milliseconds since 1970. */
  modified: number;
  /** Base64, where it is known. */
  sha256?: string;
}

export interface DriveInfo {
  name: string;
  files: number;
  bytes: number;
}

/** Bytes of a file from some byte on. */
export interface Opened {
  bytes: AsyncIterable<Uint8Array>;
  /** Of the whole file in base64, where it is known. */
  sha256: string | undefined;
}

/** How a file is written. */
export interface WriteOptions {
  type: string;
  /** Whether there must be no file of that name. */
  isNew: boolean;
}

/** The drives of a project: behind a server, or in a store. All of it throws `ClientError`. */
export interface Drives {
  /** Tells it from all others. */
  readonly identity: string;
  /** Tries again what this side cannot do now. Of its methods only `read` and `list` don't do that themselves. */
  readonly retrier: Retrier;
  listDrives(): Promise<DriveInfo[]>;
  /** The files whose names begin with the prefix, in the order of their names. */
  listFiles(drive: string, prefix: string): AsyncIterable<FileInfo>;
  /** A file; `undefined` where there is none. */
  stat(drive: string, name: string): Promise<FileInfo | undefined>;
  /** @throws {Changed} where that version is not there any more. */
  read(drive: string, file: FileInfo, from: number): Promise<Opened>;
  /** Writes a file of at most 10 MB. @throws {NotNew} */
  putFile(drive: string, name: string, bytes: Uint8Array, options: WriteOptions): Promise<void>;
  startUpload(drive: string, name: string, type: string): Promise<string>;
  /** The parts that an open upload has; `undefined` where it is not open. */
  partsOf(drive: string, name: string, id: string): Promise<PartSize[] | undefined>;
  putPart(drive: string, name: string, id: string, part: Part): Promise<void>;
  /** @throws {NotNew} */
  complete(drive: string, name: string, id: string, options: { isNew: boolean }): Promise<void>;
  abort(drive: string, name: string, id: string): Promise<void>;
}

/** A part of an upload on its way. */
export interface Part {
  number: number;
  bytes: Uint8Array;
  /** Of the bytes, in base64. */
  sha256: string;
}

/** The SHA-256 of bytes, in base64. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** The same of bytes that come in pieces. */
export async function sha256OfStream(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("base64");
}
