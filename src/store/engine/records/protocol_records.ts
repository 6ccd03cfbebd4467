/**
 * The values of the store that only S3 and WebDAV have.
 *
 * @module
 */
import type { KeyLimits } from "../../../rules/rights.ts";

/** A checksum of a file that its sender chose, as S3 defines it. */
export interface ObjectChecksum {
  algorithm: "CRC32" | "CRC32C" | "CRC64NVME" | "SHA1" | "SHA256";
  /** Base64; of a composite one followed by "-" and the number of parts. */
  value: string;
  /** `COMPOSITE`: the checksum of the checksums of the parts. */
  type: "FULL_OBJECT" | "COMPOSITE";
  /** Set if it was computed for a copy: the parts then have checksums of another algorithm, or none. */
  forCopy?: true;
}

/**
 * What S3 callers keep with a file. The caller of the store limits it: 2 KB of user metadata and 4 KB of headers, as
 * listing a drive reads every record.
 */
export interface ObjectMetadata {
  /** By name in lower case: cache-control, content-disposition, content-encoding, content-language, expires. */
  headers?: Record<string, string>;
  /** User metadata, without `x-amz-meta-`, in lower case. */
  user?: Record<string, string>;
}

/** An S3 key. Like those of a project key, its limits never change. */
export interface S3KeyRecord extends KeyLimits {
  project: string;
  created: number;
  name?: string;
  /** Encrypted, as a signature is checked with the secret itself. */
  secret: SealedSecret;
}

/** A secret that AES-256-GCM encrypts. Both are base64. */
export interface SealedSecret {
  iv: string;
  text: string;
}

/**
 * Properties of a file that have a meaning to their clients only: the element of each by its name, `{namespace}name`. The
 * caller of the store limits them to 4 KB, as listing a drive reads every record.
 */
export type FileProperties = Readonly<Record<string, string>>;

/** The locks of WebDAV clients on names of a drive. */
export interface LocksRecord {
  locks: LockRecord[];
}

/** A lock on a name, on which a file need not exist. */
export interface LockRecord {
  token: string;
  /** A file, or a folder with a slash at its end; empty for the drive. */
  name: string;
  scope: "exclusive" | "shared";
  /** Whether it covers everything below a folder, too. */
  isDeep: boolean;
  /** What the client said about its user: XML. */
  owner?: string;
  /** The beginning of the SHA-256 of the key that made it. */
  by: string;
  /** Milliseconds since 1970. */
  expires: number;
  /** Its life after it is refreshed, in milliseconds. */
  lifetime: number;
}
