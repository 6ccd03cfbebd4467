/**
 * Every key of the store. Deno KV orders strings by their UTF-8 bytes, and numbers behind all strings.
 *
 * @module
 */

import { afterPrefix } from "../../rules/names.ts";
import type { Place } from "./records.ts";

/** Sorts behind every string in the same position of a key. */
const BEHIND_STRINGS = 0;

/** `start` included, `end` excluded. */
export interface KeyRange {
  start: Deno.KvKey;
  end: Deno.KvKey;
}

export const keys = {
  file: ({ project, drive, name }: Place): Deno.KvKey => ["file", project, drive, name],

  content: ({ project, drive, name }: Place): Deno.KvKey => ["content", project, drive, name],

  chunk: ({ project, drive, name }: Place, version: string, index: number): Deno.KvKey => [
    "chunk",
    project,
    drive,
    name,
    version,
    index,
  ],

  /** The checksums of `CHECKSUMS_PER_PAGE` chunks of a version. */
  checksums: ({ project, drive, name }: Place, version: string, page: number): Deno.KvKey => [
    "checksums",
    project,
    drive,
    name,
    version,
    page,
  ],

  manifestPage: ({ project, drive, name }: Place, version: string, start: number): Deno.KvKey => [
    "manifest",
    project,
    drive,
    name,
    version,
    start,
  ],

  upload: (project: string, drive: string, id: string): Deno.KvKey => [
    "upload",
    project,
    drive,
    id,
  ],

  /** A session whose file is there: completing it again is answered from this for as long as it would have lived. */
  completedUpload: (project: string, drive: string, id: string): Deno.KvKey => [
    "completed_upload",
    project,
    drive,
    id,
  ],

  part: (project: string, drive: string, id: string, part: number): Deno.KvKey => [
    "part",
    project,
    drive,
    id,
    part,
  ],

  /** Counts the bytes of the parts that arrived. Each one changes it, so completing notices one that arrives meanwhile. */
  partsRevision: (project: string, drive: string, id: string): Deno.KvKey => [
    "parts_revision",
    project,
    drive,
    id,
  ],

  /** An open upload holds one of the project's numbers, which bounds how many are open. See `OpenUploads`. */
  openUpload: (project: string, number: number): Deno.KvKey => ["open_upload", project, number],

  /** Counts; a drive exists once it has one. `open_bytes` is the size of all parts of open uploads. */
  usage: (
    project: string,
    drive: string,
    counter: "files" | "bytes" | "open_bytes",
  ): Deno.KvKey => [
    "usage",
    project,
    drive,
    counter,
  ],

  /**
   * The bytes of a project that has a quota, parts of open uploads included. Whoever changes them demands that this entry is unchanged, and whoever changes
   * the project's record deletes it; where it is not there, the counters of the drives are added up.
   */
  quota: (project: string): Deno.KvKey => ["quota", project],

  /** Journal of files whose digest or checksums are not known yet; holds the version that lacks them. */
  undigested: ({ project, drive, name }: Place): Deno.KvKey => [
    "undigested",
    project,
    drive,
    name,
  ],

  /** What was found wrong with the bytes of a file. */
  damage: ({ project, drive, name }: Place): Deno.KvKey => ["damage", project, drive, name],

  /** How far the scrub is. */
  scrub: (): Deno.KvKey => ["scrub"],

  pending: (version: string): Deno.KvKey => ["pending", version],

  /** Until when the claim of a pending write holds, in milliseconds since 1970. */
  lease: (version: string): Deno.KvKey => ["lease", version],

  /** `due` in milliseconds since 1970. */
  garbage: (due: number, id: string): Deno.KvKey => ["garbage", due, id],

  project: (id: string): Deno.KvKey => ["project", id],

  /** `hash` is the SHA-256 of the key, in hexadecimal. */
  projectKey: (hash: string): Deno.KvKey => ["project_key", hash],

  /** What a project key is listed by, unique in the project; holds the key's hash. */
  projectKeyPrefix: (project: string, prefix: string): Deno.KvKey => [
    "project_key_prefix",
    project,
    prefix,
  ],

  app: (project: string, app: string): Deno.KvKey => ["app", project, app],

  /** Which application has a host name; unique in the store. */
  appHost: (host: string): Deno.KvKey => ["app_host", host],

  /** `hash` is the SHA-256 of the whole key, in hexadecimal. */
  appKey: (hash: string): Deno.KvKey => ["app_key", hash],

  /** Names and prefixes are unique in the application; these hold the key's hash. */
  appKeyName: (project: string, app: string, name: string): Deno.KvKey => [
    "app_key_name",
    project,
    app,
    name,
  ],

  appKeyPrefix: (project: string, app: string, prefix: string): Deno.KvKey => [
    "app_key_prefix",
    project,
    app,
    prefix,
  ],

  /** `hash` is the SHA-256 of the session's token, in hexadecimal. */
  session: (hash: string): Deno.KvKey => ["session", hash],

  /** Stand while a removal runs. */
  projectDeletion: (project: string): Deno.KvKey => ["removal", project],
  driveDeletion: (project: string, drive: string): Deno.KvKey => [
    "removal",
    project,
    "drive",
    drive,
  ],
  appDeletion: (project: string, app: string): Deno.KvKey => ["removal", project, "app", app],

  adminToken: (): Deno.KvKey => ["admin_token"],

  /** Says that the counters of a drive were put right not long ago, so that nobody does it twice at a time. */
  recounted: (project: string, drive: string): Deno.KvKey => ["recounted", project, drive],

  /** Set by a commit to a remote store, so that it is recognised where its answer was lost. Ends by itself. */
  commitMarker: (id: string): Deno.KvKey => ["commit", id],
} as const;

export const prefixes = {
  allUsage: (): Deno.KvKey => ["usage"],
  usage: (project: string): Deno.KvKey => ["usage", project],
  projects: (): Deno.KvKey => ["project"],
  projectKeys: (): Deno.KvKey => ["project_key"],
  projectKeyPrefixes: (project: string): Deno.KvKey => ["project_key_prefix", project],
  apps: (project: string): Deno.KvKey => ["app", project],
  appKeyNames: (project: string, ...app: string[]): Deno.KvKey => ["app_key_name", project, ...app],
  appKeyPrefixes: (project: string, ...app: string[]): Deno.KvKey => [
    "app_key_prefix",
    project,
    ...app,
  ],
  sessions: (): Deno.KvKey => ["session"],
  deletions: (...project: string[]): Deno.KvKey => ["removal", ...project],
  /** All of one kind that a project has, or one drive of it. */
  ofDrive: (
    kind: "file" | "upload" | "completed_upload" | "parts_revision" | "usage",
    project: string,
    ...drive: string[]
  ): Deno.KvKey => [kind, project, ...drive],
  openUploads: (project: string): Deno.KvKey => ["open_upload", project],
  leases: (): Deno.KvKey => ["lease"],
  /** All entries of one kind in the store. */
  all: (kind: string): Deno.KvKey => [kind],
  chunks: ({ project, drive, name }: Place, version: string): Deno.KvKey => [
    "chunk",
    project,
    drive,
    name,
    version,
  ],
  /** The pages of checksums of a version. */
  checksums: ({ project, drive, name }: Place, version: string): Deno.KvKey => [
    "checksums",
    project,
    drive,
    name,
    version,
  ],
  /** The manifests of all versions of a file. */
  manifests: ({ project, drive, name }: Place): Deno.KvKey => ["manifest", project, drive, name],
  parts: (project: string, drive: string, id: string): Deno.KvKey => ["part", project, drive, id],
  manifest: ({ project, drive, name }: Place, version: string): Deno.KvKey => [
    "manifest",
    project,
    drive,
    name,
    version,
  ],
} as const;

export const ranges = {
  /** The names of a drive from `from` on that begin with `prefix`. */
  files: (project: string, drive: string, prefix: string, from: string): KeyRange => ({
    start: ["file", project, drive, from],
    end: ["file", project, drive, afterPrefix(prefix) ?? BEHIND_STRINGS],
  }),

  /** The files of all drives from one on, or all of them. */
  filesFrom: (from: Place | undefined): KeyRange => ({
    start: from === undefined ? ["file"] : keys.file(from),
    end: ["file", BEHIND_STRINGS],
  }),

  /** Chunks `from` to `to` (excluded) of one version. */
  chunks: (place: Place, version: string, from: number, to: number): KeyRange => ({
    start: keys.chunk(place, version, from),
    end: keys.chunk(place, version, to),
  }),

  /** The upload sessions of a drive whose id is `from` or greater. */
  uploads: (project: string, drive: string, from: string): KeyRange => ({
    start: keys.upload(project, drive, from),
    end: ["upload", project, drive, BEHIND_STRINGS],
  }),

  /** The pages of a manifest that begin at byte `from` or later. */
  manifestFrom: (place: Place, version: string, from: number): KeyRange => ({
    start: keys.manifestPage(place, version, from),
    end: keys.manifestPage(place, version, Infinity),
  }),

  /** The pages of a manifest that begin at byte `to` or before. */
  manifestTo: (place: Place, version: string, to: number): KeyRange => ({
    start: keys.manifestPage(place, version, 0),
    end: keys.manifestPage(place, version, to + 1),
  }),

  /** What is due to be removed at a time, in milliseconds since 1970. */
  garbageDue: (now: number): KeyRange => ({ start: ["garbage", 0], end: ["garbage", now + 1] }),
} as const;

/** Whether an entry holds bytes of a file, and so many pages of the store's file. */
export function holdsBytes([kind]: Deno.KvKey): boolean {
  return kind === "chunk" || kind === "content";
}

/** A text that is the same for equal keys only. */
export function identityOf(key: Deno.KvKey): string {
  return JSON.stringify(key);
}

/** How many bytes Deno KV makes of a key: a type and an end for each part; a NUL counts twice. */
export function encodedLength(key: Deno.KvKey): number {
  return key.reduce<number>((sum, part) => sum + partLength(part), 0);
}

const encoder = new TextEncoder();

// deno-lint-ignore no-control-regex -- these are exactly the characters of one byte
const ASCII_WITHOUT_NUL = /^[\x01-\x7f]*$/;

function partLength(part: Deno.KvKeyPart): number {
  if (typeof part === "number") return 9;
  if (typeof part !== "string") {
    throw new TypeError(`Keys are made of strings and numbers, not ${typeof part}`);
  }
  if (ASCII_WITHOUT_NUL.test(part)) return part.length + 2;
  const nuls = part.includes("\0") ? part.split("\0").length - 1 : 0;
  return encoder.encode(part).byteLength + nuls + 2;
}
