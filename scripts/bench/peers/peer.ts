import type { PeerProcess, Site } from "./process.ts";
import type { S3Signer } from "./servers/aws_signature.ts";
import type { Template } from "./template.ts";

/** A server that stores files, which kvdrive is compared with, or kvdrive. */
export interface Peer {
  /** As it is in the report. */
  name: string;
  /** The program, which is looked for in the PATH. */
  program: string;
  /** What makes it print its version. */
  version: readonly string[];
  /** Starts it with its default settings on free ports of 127.0.0.1. */
  start(site: Site): Promise<PeerServer>;
}

/** A peer that runs. */
export interface PeerServer {
  process: PeerProcess;
  /** `http://127.0.0.1:PORT` */
  origin: string;
  /** Headers of each download. */
  headers: Readonly<Record<string, string>>;
  /** How it is reached over S3; absent if it has no S3 API. */
  s3?: S3Access;
  /** Prepares empty data: what an administrator does once. */
  setUp(): Promise<void>;
  /** The upload of some bytes to a new name, `{n}`, unless it cannot take uploads. */
  upload?(bytes: Uint8Array<ArrayBuffer>): Template;
  /** Stores a file. @returns the path at which it is read. */
  store(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
}

/** A server that speaks S3. */
export interface S3Access {
  /** `http://127.0.0.1:PORT` */
  origin: string;
  signer: S3Signer;
}
