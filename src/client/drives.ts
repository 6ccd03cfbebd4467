import { createHash } from "node:crypto";
import type { PartSize } from "../rules/payloads.ts";
import { ClientError } from "./errors.ts";
import type { Retrier } from "./retrier.ts";

/**
 * The drives of one project, on a server (`RemoteDrives`) or in a store on this machine. Every method throws
 * `ClientError`.
 */
export interface Drives {
  /** Differs between any two projects, servers or stores. */
  readonly identity: string;
  /** Repeats failed operations. Every method except `read` and `listFiles` uses it already. */
  readonly retrier: Retrier;
  /** Lists the drives whose names start with a prefix, in name order. */
  listDrives(prefix?: string): AsyncIterable<DriveInfo>;
  /** Lists the files whose names start with a prefix, in name order. */
  listFiles(drive: string, prefix: string): AsyncIterable<FileInfo>;
  /** Lists the folders that are kept although they may be empty. Their names end with a slash. */
  listFolders(drive: string, prefix?: string): AsyncIterable<string>;
  /** Keeps a folder; does nothing if it is kept already. */
  createFolder(drive: string, name: string): Promise<void>;
  /** Returns a file's metadata; `undefined` if it does not exist. */
  stat(drive: string, name: string): Promise<FileInfo | undefined>;
  /**
   * Reads a version of a file from a byte offset.
   *
   * @param end Where the caller stops to read; the bytes may go on behind it.
   * @throws {FileChanged} if the version no longer exists.
   */
  read(drive: string, file: FileInfo, from: number, end: number): Promise<FileContent>;
  /** Writes a file of at most 10 MB. @throws {FileExists} with `isNew`, if the file exists. */
  putFile(drive: string, name: string, bytes: Uint8Array, options: WriteOptions): Promise<void>;
  /** Returns the bytes that the quota of the project has room for; `Infinity` if that is not known. */
  room(): Promise<number>;
  /** Starts a multipart upload and returns its id. */
  startUpload(drive: string, name: string, options: FileAttributes): Promise<string>;
  /** Lists the stored parts of an upload; `undefined` if the upload is not open. */
  partsOf(drive: string, name: string, id: string): Promise<PartSize[] | undefined>;
  putPart(drive: string, name: string, id: string, part: Part): Promise<void>;
  /** Publishes an upload. @throws {FileExists} with `isNew`, if the file exists. */
  complete(drive: string, name: string, id: string, options: { isNew: boolean }): Promise<void>;
  /** Deletes an open upload; does nothing if it is not open. */
  abort(drive: string, name: string, id: string): Promise<void>;
}

export interface DriveInfo {
  name: string;
  /** `null` for a key that is limited to some names of the drive. */
  files: number | null;
  bytes: number | null;
}

/** A file's metadata, as a listing returns it. */
export interface FileInfo {
  name: string;
  /** Bytes. */
  size: number;
  /** The content type. */
  type: string;
  /** Changes with every write. */
  etag: string;
  /** Milliseconds since 1970. */
  modified: number;
  /** When the copy that was uploaded was last modified, in milliseconds since 1970; absent if the uploader did not say. */
  mtime?: number;
  /** Base64; absent if the server does not know it. */
  sha256?: string;
}

/** The bytes of a file from an offset on. */
export interface FileContent {
  bytes: AsyncIterable<Uint8Array>;
  /** Of the whole file, in base64; `undefined` if the server does not know it. */
  sha256: string | undefined;
}

/** What an upload says about its file. */
export interface FileAttributes {
  /** The content type. */
  type: string;
  /** When the sent copy was last modified, in milliseconds since 1970; `undefined` if that is not known. */
  mtime?: number | undefined;
}

export interface WriteOptions extends FileAttributes {
  /** Whether the write fails if the file exists. */
  isNew: boolean;
}

/** A part of an upload, to be sent. */
export interface Part {
  /** From 1 on. */
  number: number;
  bytes: Uint8Array;
  /** Of the bytes, in base64. */
  sha256: string;
}

/** Returns a drive. @throws {ClientError} if there is none of this name. */
export async function requireDrive(drives: Drives, drive: string): Promise<DriveInfo> {
  // Its name is the first one of those that begin with it.
  for await (const first of drives.listDrives(drive)) {
    if (first.name === drive) return first;
    break;
  }
  throw new ClientError(`There is no drive "${drive}" in this project`);
}

/** Returns the modification time that a copy of a file gets: that of the copy which was uploaded, if it is known. */
export function copyTime(
  { mtime, modified }: { mtime?: number | undefined; modified: number },
): number {
  return mtime ?? modified;
}

/** Returns the SHA-256 of bytes in base64. */
export function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("base64");
}

/** Returns the SHA-256 of a stream of bytes in base64. */
export async function sha256OfStream(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of pieces) hash.update(piece);
  return hash.digest("base64");
}
