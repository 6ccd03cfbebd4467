/**
 * The values of the store that only links have.
 *
 * @module
 */

/** What a link leads to: a file, or all files whose names start with a prefix. */
export type LinkTarget =
  | { name: string; prefix?: never }
  | { prefix: string; name?: never };

/** A link. Times are milliseconds since 1970. */
export type LinkRecord = LinkTarget & {
  project: string;
  /** When that project was created. A later project with the same id has another time. */
  projectCreated: number;
  drive: string;
  /** The signing key under which it was made; the link ends with that key. */
  keyId: string;
  created: number;
  expires?: number;
  /** Whether browsers store what it leads to rather than show it. */
  download: boolean;
  password?: PasswordHash;
  /** After so many answers with bytes of files, the link is used up. */
  maxDownloads?: number;
};

/** A password as scrypt hashes it. Both are base64. */
export interface PasswordHash {
  salt: string;
  hash: string;
}

/** The index entry of a link. */
export interface DriveLinkRecord {
  expires?: number;
}

/** The key that the addresses of links are derived from. */
export interface LinkKeyRecord {
  id: string;
  /** 256 random bits, in base64. */
  secret: string;
}
