/**
 * Every key of the store, as functions: `keys` of single entries, `prefixes` and `ranges` for lists. The first part of
 * a key is the kind of the entry; the values are in `records.ts`. Deno KV orders strings by their UTF-8 bytes, and
 * numbers after all strings.
 *
 * @module
 */
import { afterPrefix } from "../../rules/names.ts";
import type { GrantKind, Place } from "./records.ts";
import type { Kind } from "./records/kinds.ts";

/** Sorts after every string in the same position of a key. */
const AFTER_STRINGS = 0;

/** Keys from `start` (included) to `end` (excluded). */
export interface KeyRange {
  start: Deno.KvKey;
  end: Deno.KvKey;
}

/** What most keys consist of, after their kind. */
type InDrive = [project: string, drive: string, id: string];
type OfWebhook = [project: string, webhook: string, drive: string];
type InApp = [project: string, app: string, id: string];

export type UsageCounter = "files" | "bytes" | "open_bytes" | "trash_files" | "trash_bytes";

export const keys = {
  /** The number of the store's format. */
  format: (): Deno.KvKey => ["format"],

  /** The id of the store, which backups and restores keep: a repository has the snapshots of one store. */
  storeId: (): Deno.KvKey => ["store_id"],

  /** The name of the file with the chunks, beside that of the records; only in a store in files of this machine. */
  byteFile: (): Deno.KvKey => ["byte_file"],

  /** The record of a file's current version. */
  file: ({ project, drive, name }: Place): Deno.KvKey => ["file", project, drive, name],

  /** The marker of a folder, which shows although it may be empty. The name ends with a slash. */
  folder: ({ project, drive, name }: Place): Deno.KvKey => ["folder", project, drive, name],

  /** All locks of WebDAV clients on names of a drive. Its last part makes it an entry below the drive. */
  locks: ({ project, drive }: Pick<Place, "project" | "drive">): Deno.KvKey => [
    "locks",
    project,
    drive,
    "webdav",
  ],

  /** The bytes of a version that fit into one value. */
  content: (version: string): Deno.KvKey => ["content", version],

  /** One chunk of a version's bytes. */
  chunk: (version: string, index: number): Deno.KvKey => ["chunk", version, index],

  /** The checksums of `CHECKSUMS_PER_PAGE` chunks of a version. */
  checksums: (version: string, page: number): Deno.KvKey => ["checksums", version, page],

  /** A page of a version's list of parts; `start` is the offset of its first byte in the file. */
  manifestPage: (version: string, start: number): Deno.KvKey => ["manifest", version, start],

  /** How many files share the bytes of a version. The entry exists from the first copy on. */
  references: (version: string): Deno.KvKey => ["references", version],

  upload: (...of: InDrive): Deno.KvKey => ["upload", ...of],

  /** A completed session, kept until the session would have expired: completing it again returns the same answer. */
  completedUpload: (...of: InDrive): Deno.KvKey => ["completed_upload", ...of],

  part: (...of: [...InDrive, part: number]): Deno.KvKey => ["part", ...of],

  /**
   * Counts the bytes of the parts of an upload. Every part changes it, so that completing detects a concurrent part.
   */
  partsRevision: (...of: InDrive): Deno.KvKey => ["parts_revision", ...of],

  trash: (...of: InDrive): Deno.KvKey => ["trash", ...of],

  /** A counter of a drive, which exists once it has one. `open_bytes` counts the parts of open uploads. */
  usage: (...of: [project: string, drive: string, counter: UsageCounter]): Deno.KvKey => [
    "usage",
    ...of,
  ],

  /** The sum of the counters of a project's drives, or the number of its open uploads. */
  projectUsage: (project: string, counter: UsageCounter | "open_uploads"): Deno.KvKey => [
    "project_usage",
    project,
    counter,
  ],

  /** Journal of files without a digest or checksums; holds the version that lacks them. */
  undigested: ({ project, drive, name }: Place): Deno.KvKey => ["undigested", project, drive, name],

  /** Damage found in the bytes of a file. */
  damage: ({ project, drive, name }: Place): Deno.KvKey => ["damage", project, drive, name],

  scrub: (): Deno.KvKey => ["scrub"],

  /** Journal of bytes that are being written under a version. */
  pending: (version: string): Deno.KvKey => ["pending", version],

  /** End of the lease on a pending write, in milliseconds since 1970. */
  lease: (version: string): Deno.KvKey => ["lease", version],
  /** End of the lease of a process that reads a version, in milliseconds since 1970. */
  readLease: (version: string, process: string): Deno.KvKey => ["lease", version, process],

  /** Something to delete, from `due` on (milliseconds since 1970). */
  garbage: (due: number, id: string): Deno.KvKey => ["garbage", due, id],

  /** A file that expires at `due` (milliseconds since 1970): an index of the records with a deadline. */
  expiry: (due: number, version: string): Deno.KvKey => ["expiry", due, version],

  /** The feed of a drive. Keys of its entries continue with the versionstamp of their commit. */
  feed: (...of: [project: string, feed: string, drive: string]): Deno.KvKey => ["change", ...of],

  /** The newest change that was removed from the feed of a drive. */
  feedHorizon: (...of: [project: string, feed: string, drive: string]): Deno.KvKey => [
    "change_horizon",
    ...of,
  ],

  /** A webhook, and what became of its deliveries. */
  webhook: (project: string, id: string): Deno.KvKey => ["webhook", project, id],
  webhookState: (project: string, id: string): Deno.KvKey => ["webhook_state", project, id],
  /** The position up to which a webhook has told of the changes of a drive. */
  webhookCursor: (...of: OfWebhook): Deno.KvKey => ["webhook_cursor", ...of],
  /** Counts commits with changes that a webhook may have to tell of. */
  webhookDue: (project: string, drive: string): Deno.KvKey => ["webhook_due", project, drive],
  /** Which process delivers, as long as the entry changes. */
  webhookLease: (): Deno.KvKey => ["webhook_lease"],

  project: (id: string): Deno.KvKey => ["project", id],

  /** A project key; `hash` is its SHA-256, in hexadecimal. */
  projectKey: (hash: string): Deno.KvKey => ["project_key", hash],

  /** The prefix that a project key is listed by, unique in the project; holds the key's hash. */
  projectKeyPrefix: (...of: [project: string, prefix: string]): Deno.KvKey => [
    "project_key_prefix",
    ...of,
  ],

  /** The hour in which a project key was last used, in milliseconds since 1970. */
  projectKeyUse: (hash: string): Deno.KvKey => ["project_key_use", hash],

  /** An S3 key by its access key id, its place in the list of its project, and the hour of its last use. */
  s3Key: (id: string): Deno.KvKey => ["s3_key", id],
  s3KeyOf: (project: string, id: string): Deno.KvKey => ["s3_key_of", project, id],
  s3KeyUse: (id: string): Deno.KvKey => ["s3_key_use", id],

  app: (project: string, app: string): Deno.KvKey => ["app", project, app],

  /** The application that a host name belongs to; unique in the store. */
  appHost: (host: string): Deno.KvKey => ["app_host", host],

  /** An application's key; `hash` is the SHA-256 of the whole key, in hexadecimal. */
  appKey: (hash: string): Deno.KvKey => ["app_key", hash],

  /** Name and prefix of an application's key, unique in the application; they hold the key's hash. */
  appKeyName: (...of: InApp): Deno.KvKey => ["app_key_name", ...of],
  appKeyPrefix: (...of: InApp): Deno.KvKey => ["app_key_prefix", ...of],

  /** A browser session at the gate; `hash` is the SHA-256 of its token, in hexadecimal. */
  session: (hash: string): Deno.KvKey => ["session", hash],

  /** Something that a random token opens; `hash` is the SHA-256 of the token, in hexadecimal. */
  grant: (kind: GrantKind, hash: string): Deno.KvKey => ["grant", kind, hash],

  /** Lists the grants of a credential in the order of their creation; `owner` is the SHA-256 of that credential. */
  grantOf: (
    owner: string,
    kind: GrantKind,
    id: string,
  ): Deno.KvKey => ["grant_of", owner, kind, id],

  link: (id: string): Deno.KvKey => ["link", id],

  /** Lists the links of a drive in the order of their creation. */
  driveLink: (...of: InDrive): Deno.KvKey => ["drive_link", ...of],

  /** Counts the answers of a link that had bytes of files. */
  linkDownloads: (id: string): Deno.KvKey => ["link_downloads", id],

  /** The key that the addresses of links are derived from. */
  linkKey: (): Deno.KvKey => ["link_key"],

  /** Markers of deletions that are running. */
  projectDeletion: (project: string): Deno.KvKey => ["removal", project],
  driveDeletion: (project: string, name: string): Deno.KvKey => ["removal", project, "drive", name],
  appDeletion: (project: string, app: string): Deno.KvKey => ["removal", project, "app", app],

  adminToken: (): Deno.KvKey => ["admin_token"],

  /** An event in the audit log of a project; ids are in the order of time. */
  event: (project: string, id: string): Deno.KvKey => ["event", project, id],

  /** An event in the audit log of the server. */
  serverEvent: (id: string): Deno.KvKey => ["server_event", id],

  /** The figures of a day, in days since 1970, of a project, or of all projects together without one. */
  dailyUsage: (project: string | undefined, day: number): Deno.KvKey =>
    project === undefined ? ["server_daily_usage", day] : ["daily_usage", project, day],

  /** Since when daily figures are kept, and the last day whose files and bytes were recorded. */
  usageHistory: (): Deno.KvKey => ["usage_history"],

  /** Set for a while after the counters of a drive, or the sums of a project, were corrected, so that this happens once. */
  recounted: (project: string, drive = ""): Deno.KvKey => ["recounted", project, drive],

  /**
   * Set by every commit to a remote store, which proves that the commit happened if its answer was lost. It expires.
   */
  commitMarker: (id: string): Deno.KvKey => ["commit", id],
} as const;

export const prefixes = {
  /** All entries of one kind in the store, or those whose keys go on with these parts; all of all kinds without one. */
  all: (...kind: [] | [kind: Kind, ...parts: string[]]): Deno.KvKey => kind,
  /** All entries of the same kind as a key. */
  like: (key: Deno.KvKey): Deno.KvKey => key.slice(0, 1),
} as const;

/** Keys that continue a prefix, from one part (included) to another (excluded): by default all that are strings. */
function below(
  prefix: Deno.KvKey,
  from?: Deno.KvKeyPart,
  to: Deno.KvKeyPart = AFTER_STRINGS,
): KeyRange {
  return { start: from === undefined ? prefix : [...prefix, from], end: [...prefix, to] };
}

export const ranges = {
  /** The files or folders of a drive, or the counters of a project's drives, from the name `from` on with `prefix`. */
  named: (
    place: readonly ["file" | "folder", project: string, drive: string] | ["usage", string],
    prefix: string,
    from: string,
  ): KeyRange => below(place, from, afterPrefix(prefix)),

  /** The files of all drives, optionally from one file on. */
  filesFrom: (from: Place | undefined): KeyRange => ({
    ...below(["file"]),
    ...(from !== undefined && { start: keys.file(from) }),
  }),

  /** Chunks `from` to `to` (excluded) of one version. */
  chunks: (version: string, from: number, to: number): KeyRange =>
    below(["chunk", version], from, to),

  /** The upload sessions of a drive whose id is `from` or greater. */
  uploads: (project: string, drive: string, from: string): KeyRange =>
    below(["upload", project, drive], from),

  /** The items in the trash of a drive, or of all drives. */
  trash: (project: string, ...drive: (string | undefined)[]): KeyRange =>
    below(["trash", project, ...drive.filter((name) => name !== undefined)]),

  /** The items in the trash of a drive before an id; all if it is empty. */
  trashBefore: (project: string, drive: string, id: string): KeyRange =>
    below(["trash", project, drive], undefined, id === "" ? AFTER_STRINGS : id),

  /** The pages of a manifest that begin at byte `from` or later. */
  manifestFrom: (version: string, from: number): KeyRange =>
    below(["manifest", version], from, Infinity),

  /** The pages of a manifest that begin at byte `to` or before. */
  manifestTo: (version: string, to: number): KeyRange => below(["manifest", version], 0, to + 1),

  /** The events of a project with ids below `before`, or all of them. */
  events: (project: string, before?: string): KeyRange =>
    below(["event", project], undefined, before),

  /** The events of the server with ids below `before`, or all of them. */
  serverEvents: (before?: string): KeyRange => below(["server_event"], undefined, before),

  /** The entries of a feed from a versionstamp on. */
  feedFrom: (feed: Deno.KvKey, stamp: string): KeyRange => below(feed, stamp),

  /** The drives of a project that are due for webhooks, from one on, and those of the projects after one. */
  webhookDue: (project: string, from: string): KeyRange => below(["webhook_due", project], from),
  webhookDueAfter: (project: string | undefined): KeyRange => ({
    ...below(["webhook_due"]),
    ...(project !== undefined && { start: ["webhook_due", project, AFTER_STRINGS] }),
  }),

  /** The feeds of a project, after that of a drive. */
  drivesWithFeed: (project: string, feed: string, drive = ""): KeyRange => ({
    ...below(["change", project, feed]),
    start: [...keys.feed(project, feed, drive), AFTER_STRINGS],
  }),

  /** The feeds of all drives, after one of them. */
  feedsAfter: (feed: Deno.KvKey | undefined): KeyRange => ({
    ...below(["change"]),
    ...(feed !== undefined && { start: [...feed, AFTER_STRINGS] }),
  }),

  /** The daily figures of a project, or of all together, from one day to another (excluded). */
  dailyUsage: (project: string | undefined, from: number, to: number): KeyRange => ({
    start: keys.dailyUsage(project, from),
    end: keys.dailyUsage(project, to),
  }),

  /** One entry whose key ends with a string, for code that lists. */
  entry: (key: Deno.KvKey): KeyRange => ({
    start: key,
    end: [...key.slice(0, -1), `${String(key.at(-1))}\0`],
  }),

  /** The links of a drive whose id is less than `before`; all of them if it is empty. */
  linksBefore: (project: string, drive: string, before: string): KeyRange =>
    below(["drive_link", project, drive], "", before === "" ? AFTER_STRINGS : before),

  /** The garbage that is due at a time, in milliseconds since 1970. */
  garbageDue: (now: number): KeyRange => below(["garbage"], 0, now + 1),

  /** The files whose deadline has come at a time, in milliseconds since 1970. */
  expiryDue: (now: number): KeyRange => below(["expiry"], 0, now + 1),
} as const;

/** Returns a text that only equal keys have in common. */
export function identityOf(key: Deno.KvKey): string {
  return JSON.stringify(key);
}

/** Returns whether an entry holds bytes of a file, and therefore takes many pages of the store's file. */
export function holdsBytes([kind]: Deno.KvKey): boolean {
  return kind === "chunk" || kind === "content";
}

/** Returns the bytes of a key as Deno KV encodes it: each part has a type and an end, and a NUL counts twice. */
export function encodedLength(key: Deno.KvKey): number {
  return key.reduce<number>((sum, part) => sum + partLength(part), 0);
}

const encoder = new TextEncoder();

// deno-lint-ignore no-control-regex -- exactly the characters of one byte
const ASCII_WITHOUT_NUL = /^[\x01-\x7f]*$/;

function partLength(part: Deno.KvKeyPart): number {
  if (typeof part === "number") return 9;
  if (typeof part !== "string") {
    throw new TypeError(`Keys consist of strings and numbers, not ${typeof part}`);
  }
  if (ASCII_WITHOUT_NUL.test(part)) return part.length + 2;
  const nuls = part.includes("\0") ? part.split("\0").length - 1 : 0;
  return encoder.encode(part).byteLength + nuls + 2;
}
