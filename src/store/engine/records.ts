/** One value of Deno KV (its limit), and so one piece of a file. */
export const CHUNK_SIZE = 65_536;

/**
 * The values of the store. They are small: listing a drive reads every record.
 *
 * @module
 */

/** Where a file is: the name is unique inside the drive, the drive inside the project. */
export interface Place {
  project: string;
  drive: string;
  name: string;
}

/** A file as a message names it. */
export function fileText({ project, drive, name }: Place): string {
  return `${JSON.stringify(name)} in drive ${JSON.stringify(drive)} of project ${project}`;
}

/** How a file's bytes lie in the store. `checksums`: all chunks have them; older stores have chunks without. */
export type Layout =
  /** In one value beside the record. */
  | { kind: "inline" }
  /** In chunks under this version, which is not the file's where they came as the only part of an upload. */
  | { kind: "chunks"; version: string; checksums?: true }
  /** In the chunks of many parts, which the manifest under the file's version lists. */
  | { kind: "manifest"; parts: number; checksums?: true };

export interface FileRecord {
  /** Time-ordered, new with every write, and so the file's entity tag as well. */
  version: string;
  /** Bytes. */
  size: number;
  type: string;
  /** Milliseconds since 1970: when the name was first written, and when this version was. */
  created: number;
  modified: number;
  /** Base64. A file of many parts gets it in the background. */
  sha256?: string;
  /** Set where an earlier version was written within the same second. */
  sameSecond?: true;
  layout: Layout;
}

export interface UploadSession {
  name: string;
  /** The content type that the initialising call named. */
  type?: string;
  created: number;
  /** Milliseconds since 1970 from which on the session counts as gone. */
  expires: number;
  /** The project's number that the upload holds while it is open. */
  number: number;
}

/** Which upload holds a number of its project. */
export interface OpenUploadRecord {
  drive: string;
  id: string;
}

export interface PartRecord {
  /** The version under which the part's chunks lie. */
  version: string;
  size: number;
  /** Base64. */
  sha256: string;
  /** Whether its chunks have checksums; older stores have parts without. */
  checksums?: true;
  /** The content type that the part came with. */
  type?: string;
}

/** Consecutive parts of a file, from the byte on that is the last element of the page's key. */
export interface ManifestPage {
  versions: string[];
  sizes: number[];
}

/** What is wrong with the bytes of a version of a file. */
export interface DamageRecord {
  version: string;
  /** The end of a sentence. */
  problem: string;
  /** Milliseconds since 1970: when it was found, and when the scrub read the file again last. */
  found: number;
  checked?: number;
}

/** One pass of the scrub over all files, in the order of their keys. */
export interface ScrubRecord {
  /** Milliseconds since 1970. */
  started: number;
  finished?: number;
  /** The file that was checked last. */
  last?: Place;
  /** What was checked so far. */
  files: number;
  bytes: number;
  damaged: number;
}

/** Bytes that somebody writes. Until when that claim holds is an entry of its own. */
export interface PendingWrite extends Place {
  version: string;
  /** How many chunks there can be at the most. */
  chunks: number;
}

/** What is to be removed. `file` is the version that readers hold while they read these bytes. */
export type Garbage =
  & Place
  & (
    | { kind: "chunks"; version: string; chunks: number; file: string }
    | { kind: "manifest"; file: string }
    /** A session whose time is over or that was aborted, its parts and their bytes. */
    | { kind: "upload"; id: string }
    /** The part entries of a completed upload; their bytes belong to the file now. */
    | { kind: "parts"; id: string }
    /** An entry whose time is over. */
    | { kind: "entry"; key: Deno.KvKey }
  );

/** All times are milliseconds since 1970. */
export interface ProjectRecord {
  created: number;
  name?: string;
  /** Drives whose removal is running. */
  removing?: string[];
  /** How many bytes its files and the parts of its open uploads may have together; without it there is no limit. */
  maxBytes?: number;
  /** The domain below which its owner may choose host names for applications. */
  hostSuffix?: string;
}

/** What counts against the quota of a project that has one. */
export interface QuotaRecord {
  /** Of all files, and all parts of open uploads, in all drives but those that are being removed. */
  bytes: number;
}

export interface ProjectKeyRecord {
  project: string;
  created: number;
  /** What it is listed by; older stores have keys without. */
  prefix?: string;
  name?: string;
}

export interface AppRecord {
  created: number;
  /** Where it runs, such as `http://127.0.0.1:3000`. */
  upstream?: string;
  /** A host name that is its own. */
  host?: string;
  /** Set where the owner chose the host, which then counts only while it is below the project's suffix. */
  isOwnersHost?: true;
  /** Whether access control is on. */
  access: boolean;
}

/** Which application has a host name. */
export interface AppHostRecord {
  project: string;
  app: string;
}

export interface AppKeyRecord {
  project: string;
  app: string;
  name: string;
  description?: string;
  prefix: string;
  created: number;
}

/** A browser in which the owner signed in. */
export interface SessionRecord {
  project: string;
  app: string;
  /** The SHA-256 of the project key that it signed in with, without which it ends. */
  projectKey: string;
  /** From then on it counts as gone. */
  expires: number;
}

/** A removal that is running; what is removed is in its key. */
export interface DeletionMarker {
  kind: "project" | "drive" | "app";
  since: number;
}
