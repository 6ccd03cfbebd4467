import type { S3Key } from "../../../tests/support/s3/signed.ts";
import type { Message } from "../load.ts";
import type { Site } from "./process.ts";

/** A server that stores files: kvdrive, or one that it is compared with. */
export interface Peer {
  /** As it is in the report. */
  name: string;
  /** The program, which is looked for in the PATH. */
  program: string;
  /** Its arguments that print the version. */
  version: readonly string[];
  /** Starts it with its default settings on free ports of 127.0.0.1. */
  start(site: Site): Promise<PeerServer>;
}

/** A peer that runs. */
export interface PeerServer {
  process: { stop(): Promise<void> };
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** Headers of each download. */
  headers: Readonly<Record<string, string>>;
  /** Its S3 API; absent if it has none. */
  s3?: S3Access;
  /** Prepares empty data: what an administrator does once. */
  setUp(): Promise<void>;
  /** The upload of some bytes to a new name, `{n}`, unless it does not support uploads. */
  upload?(bytes: Uint8Array<ArrayBuffer>): Message;
  /** Stores a file. Returns the path at which it is read. */
  store(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
}

/** A server that supports S3, and a key. */
export interface S3Access {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  key: S3Key;
}
