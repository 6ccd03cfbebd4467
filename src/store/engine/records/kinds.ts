/**
 * Every kind of entry that a store can have, by the first part of its keys, and what it belongs to:
 *
 * - `store`: there are few of them, or each has a deadline of its own;
 * - `version`: the bytes of a version, its journals and its counter, which the garbage collector deletes;
 * - `drive`: the second and third part of the key are a project and a drive, whose deletion deletes the entry;
 * - `project`: the second part is a project, whose deletion deletes the entry. Nothing else has to change with it;
 * - `owner`: other entries of a project, each deleted with its record.
 */
export const KINDS = {
  format: "store",
  store_id: "store",
  byte_file: "store",
  scrub: "store",
  admin_token: "store",
  link_key: "store",
  usage_history: "store",
  server_event: "store",
  server_daily_usage: "store",
  webhook_lease: "store",
  garbage: "store",
  expiry: "store",
  recounted: "store",
  commit: "store",
  content: "version",
  chunk: "version",
  checksums: "version",
  manifest: "version",
  references: "version",
  pending: "version",
  lease: "version",
  file: "drive",
  folder: "drive",
  locks: "drive",
  trash: "drive",
  upload: "drive",
  completed_upload: "drive",
  part: "drive",
  parts_revision: "drive",
  usage: "drive",
  undigested: "drive",
  damage: "drive",
  drive_link: "drive",
  event: "project",
  daily_usage: "project",
  change: "project",
  change_horizon: "project",
  webhook: "project",
  webhook_state: "project",
  webhook_cursor: "project",
  webhook_due: "project",
  project: "owner",
  project_usage: "owner",
  project_key: "owner",
  project_key_prefix: "owner",
  project_key_use: "owner",
  s3_key: "owner",
  s3_key_of: "owner",
  s3_key_use: "owner",
  app: "owner",
  app_host: "owner",
  app_key: "owner",
  app_key_name: "owner",
  app_key_prefix: "owner",
  session: "owner",
  grant: "owner",
  grant_of: "owner",
  link: "owner",
  link_downloads: "owner",
  removal: "owner",
} as const;

export type Kind = keyof typeof KINDS;

/** The kinds of entries that are deleted with their project, and have nothing beside them. */
export const PROJECT_KINDS = (Object.keys(KINDS) as Kind[]).filter((kind) =>
  KINDS[kind] === "project"
);

/** The kinds of entries in the file of the chunks. All others are in that of the records. */
export const BYTE_KINDS: readonly Kind[] = ["checksums", "chunk"];

export function isByteKind(kind: unknown): boolean {
  return BYTE_KINDS.some((each) => each === kind);
}

/** The kinds of entries that are counters. What they count can be counted again, or is no loss. */
export const COUNTER_KINDS: readonly Kind[] = [
  "usage",
  "project_usage",
  "parts_revision",
  "references",
  "webhook_due",
  "link_downloads",
];

export function isCounterKind(kind: unknown): boolean {
  return COUNTER_KINDS.some((each) => each === kind);
}
