/**
 * The values of the store that only WebDAV has.
 *
 * @module
 */

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
