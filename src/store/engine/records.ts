/**
 * The values of the store; their keys are in `keys.ts`. Records are small: listing a drive reads every record.
 * @module
 */
import type { KeyLimits } from "../../rules/rights.ts";
import type { FileProperties, ObjectChecksum, ObjectMetadata } from "./records/protocol_records.ts";

export type * from "./records/link_records.ts";
export type * from "./records/protocol_records.ts";
export type * from "./records/webhook_records.ts";

/** Size of one value of Deno KV (its limit), and therefore of one chunk of a file, in bytes. */
export const CHUNK_SIZE = 65_536;

/** Location of a file: the name is unique in the drive, the drive in the project. */
export interface Place {
  project: string;
  drive: string;
  name: string;
  /** Whether writes fail if the drive does not exist, instead of creating it. */
  needsDrive?: boolean;
}

/** Returns the name of a file for messages. */
export function fileText({ project, drive, name }: Place): string {
  return `${JSON.stringify(name)} in drive ${JSON.stringify(drive)} of project ${project}`;
}

/** Returns a text that only equal places have in common. */
export function placeId({ project, drive, name }: Place): string {
  return JSON.stringify([project, drive, name]);
}

/** How the bytes of a version are stored. Every chunk has a checksum. */
export type Layout =
  /** In one value. */
  | { kind: "inline" }
  | { kind: "chunks" }
  /** In the chunks of many parts, listed by a manifest. */
  | { kind: "manifest"; parts: number };

export interface FileRecord {
  /** Ordered by time and new with every write, which makes it the file's entity tag. */
  version: string;
  /** Bytes. */
  size: number;
  type: string;
  /** First write of the name, in milliseconds since 1970. */
  created: number;
  /** Write of this version, in milliseconds since 1970. */
  modified: number;
  /** When the caller's own copy was last modified, in milliseconds since 1970: what the caller said. */
  mtime?: number;
  /** From when on the file is absent, in milliseconds since 1970: see `isPresent`. */
  expires?: number;
  /** Base64. A file of many parts gets it in the background. */
  sha256?: string;
  /** Set if an earlier version may have been written within the same second. */
  sameSecond?: true;
  layout: Layout;
  /** The version that the bytes are stored under, if it is not the record's. */
  bytes?: string;
  /** Set from the first copy on: `keys.references` counts the records that share the bytes. */
  shared?: true;
  /**
   * The entity tag that S3 clients expect: the MD5 of the bytes in hex or, of a file made of parts, the MD5 of their
   * MD5s, a dash and their number.
   */
  md5Tag?: string;
  /** The checksum that the sender chose. */
  checksum?: ObjectChecksum;
  object?: ObjectMetadata;
  /** Properties that WebDAV clients keep with the file. */
  properties?: FileProperties;
  /** A small picture of this version. */
  thumbnail?: ThumbnailRecord;
}

/** Where the bytes of a version are, and who else uses them. */
export type StoredBytes = Pick<FileRecord, "version" | "size" | "layout" | "bytes" | "shared">;

/** A thumbnail is stored as a small file is: in one value, under a version of its own, which copies share. */
export interface ThumbnailRecord {
  version: string;
  /** Bytes. */
  size: number;
  /** Base64. */
  sha256: string;
  /** As that of a file. */
  shared?: true;
}

/** Returns the version that the bytes of a file are stored under. */
export function bytesVersion({ bytes, version }: Pick<FileRecord, "bytes" | "version">): string {
  return bytes ?? version;
}

/** Returns where the bytes of a thumbnail are. */
export function thumbnailBytes(thumbnail: ThumbnailRecord): StoredBytes {
  return { ...thumbnail, layout: { kind: "inline" } };
}

/** Returns where all bytes of a record are: those of the file, and of its thumbnail. */
export function storedBytes(record: FileRecord): StoredBytes[] {
  const { thumbnail } = record;
  return thumbnail === undefined ? [record] : [record, thumbnailBytes(thumbnail)];
}

export interface FolderRecord {
  /** Milliseconds since 1970. */
  created: number;
  /** The folder that is being moved here, or was when the move was interrupted. */
  arriving?: {
    drive: string;
    name: string;
    /** Whether the marker is there for the move only. */
    isTemporary: boolean;
  };
}

export interface UploadSession {
  name: string;
  /** Content type from the call that started the upload. */
  type?: string;
  /** `mtime` of the file. */
  mtime?: number;
  /** How long the file exists, in milliseconds from its completion on. */
  lifetime?: number;
  object?: ObjectMetadata;
  /** The checksum that the file will have. */
  checksum?: Pick<ObjectChecksum, "algorithm" | "type">;
  /** Of a completed upload: the version that its file got, and its deadline, in milliseconds since 1970. */
  fileVersion?: string;
  fileExpires?: number;
  created: number;
  /** End of the session, in milliseconds since 1970. */
  expires: number;
}

export interface PartRecord {
  /** Version of the part's chunks. */
  version: string;
  size: number;
  /** Base64. */
  sha256: string;
  /** Content type sent with the part. */
  type?: string;
  /** MD5 of the bytes, in hex. */
  md5?: string;
  /** In base64, by the algorithm of the session. */
  checksum?: string;
  /** When it was stored, in milliseconds since 1970. */
  modified?: number;
}

/** Consecutive parts of a file. The last element of the page's key is the offset of the first one in the file. */
export interface ManifestPage {
  versions: string[];
  sizes: number[];
  /** The parts' checksums of S3 in base64, if all parts have one and a transaction has room for them. */
  checksums?: string[];
}

/** Damage in the bytes of a version of a file. */
export interface DamageRecord {
  version: string;
  /** The damage, as the end of a sentence. */
  problem: string;
  /** When it was found, in milliseconds since 1970. */
  found: number;
  /** When the scrub last read the file again, in milliseconds since 1970. */
  checked?: number;
}

/** A pass of the scrub over all files, in the order of their keys. */
export interface ScrubRecord {
  /** Milliseconds since 1970. */
  started: number;
  finished?: number;
  /** The last file that was checked. */
  last?: Place;
  /** Checked so far. */
  files: number;
  bytes: number;
  damaged: number;
}

/** What a project, or all projects together, did on a day, and had at its end. */
export interface DailyUsageRecord {
  requests: number;
  /** Bytes of request and response bodies. */
  received: number;
  sent: number;
  /** Both are absent until the day has ended. */
  files?: number;
  bytes?: number;
}

/** Days are counted since 1970. */
export interface UsageHistoryRecord {
  /** The first day with figures. */
  since: number;
  /** The last day whose files and bytes were recorded. */
  closed?: number;
}

/** Bytes that a process is writing. The end of its lease is an entry of its own. */
export interface PendingWrite extends Place {
  version: string;
  chunks: number;
}

/** Something to delete. Bytes are kept while a reader holds their version open. */
export type Garbage =
  & Place
  & (
    | { kind: "chunks"; version: string; chunks: number }
    /** A list of parts and their chunks. */
    | { kind: "manifest"; version: string }
    /** A record that shared these bytes. */
    | { kind: "reference"; version: string; size: number; layout: Layout }
    /** An expired or aborted session, its parts and their bytes. */
    | { kind: "upload"; id: string }
    /** The part entries of a completed upload. Their bytes belong to the file, except those of the unused ones. */
    | { kind: "parts"; id: string; unused?: number[] }
    /** An item of the trash at its deadline. */
    | { kind: "trash"; id: string }
    /** The items of a project that were in the trash before an id. */
    | { kind: "whole_trash"; before: string }
    | { kind: "entry"; key: Deno.KvKey }
    | { kind: "link"; id: string }
    /** All links of a signing key that was replaced. They have no place. */
    | { kind: "links"; keyId: string }
  );

/** All times are milliseconds since 1970. */
export interface ProjectRecord {
  created: number;
  name?: string;
  /** Drives that are being deleted. */
  removing?: string[];
  /** The most bytes that its files, its trash and the parts of its open uploads may have; without it there is no limit. */
  maxBytes?: number;
  /** The most files that it may have, those in the trash included; without it there is no limit. */
  maxFiles?: number;
  /** Domain under which its owner may choose host names for applications. */
  hostSuffix?: string;
  /** How many days the trash keeps files; without it there is no trash. */
  trashDays?: number;
  /** How many days the feeds keep changes, and the random secret that they are stored under; both only while they are on. */
  changeDays?: number;
  feed?: string;
  /** How many webhooks it has; absent for none. */
  webhooks?: number;
}

/** Why a file is in the trash. */
export type TrashReason = "deleted" | "replaced";

/** A file in the trash. Times are milliseconds since 1970. */
export interface TrashRecord {
  name: string;
  deleted: number;
  /** When it is deleted for good. */
  expires: number;
  reason: TrashReason;
  record: FileRecord;
}

/** Its limits never change, so that what it was checked for stays true. */
export interface ProjectKeyRecord extends KeyLimits {
  project: string;
  created: number;
  /** The first characters of the secret or of its hash, by which the key is listed. */
  prefix: string;
  name?: string;
}

export interface AppRecord {
  created: number;
  /** Address of the application, such as `http://127.0.0.1:3000`. */
  upstream?: string;
  /** The host name under which it is served. */
  host?: string;
  /** Set if the project's owner chose the host, which is then valid only while it is under the project's suffix. */
  isOwnersHost?: true;
  access: boolean;
}

/** The application that a host name belongs to. */
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

/** A browser session of a signed-in owner. */
export interface SessionRecord {
  project: string;
  app: string;
  /** SHA-256 of the project key used to sign in; the session ends with that key. */
  projectKey: string;
  /** End of the session, in milliseconds since 1970. */
  expires: number;
}

/** What a random token stands for: a signed-in browser, a code for signing in once, or a selection of files. */
export type GrantKind = "session" | "code" | "ticket";

/** A credential, without its secret. */
export interface Credential {
  /** SHA-256 of the project key, or of the administrator's token. */
  hash: string;
  /** The project of the key; absent for the administrator. */
  project?: string;
}

/** A grant ends with its credential. Times are milliseconds since 1970. */
export interface GrantRecord {
  /** Orders the grants of a credential by their creation. */
  id: string;
  owner: Credential;
  created: number;
  expires: number;
}

/** A browser that is signed in to the dashboard. */
export interface BrowserSessionRecord extends GrantRecord {
  /** Renewed once an hour. */
  lastUsed: number;
  /** The client's address at the sign-in. */
  address: string;
  /** The name of the browser, as it said. */
  browser: string;
}

/** Files that an address opens without credentials. */
export interface TicketRecord extends GrantRecord {
  project: string;
  /** When that project was created. A later project with the same id has another time. */
  projectCreated: number;
  drive: string;
  /** Names and prefixes: JSON, compressed, in base64. */
  selection: string;
  /** The grant of the session that made it, with which it ends. */
  session?: string;
}

export interface GrantIndexRecord {
  hash: string;
  expires: number;
  /** The project that the grant is deleted with. */
  project?: string;
}

/** A deletion that is running; its key names the target. */
export interface DeletionMarker {
  kind: "project" | "drive" | "app";
  since: number;
}
