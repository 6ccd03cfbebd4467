/** What the audit logs record. */
export const EVENTS = [
  "project.created",
  "project.deleted",
  "quota.changed",
  "trash.changed",
  "host_suffix.changed",
  "drive.deleted",
  "key.created",
  "key.revoked",
  "s3_key.created",
  "s3_key.revoked",
  "app.created",
  "app.changed",
  "app.deleted",
  "access.enabled",
  "access.disabled",
  "app_key.created",
  "app_key.revoked",
  "gate.signed_in",
  "dashboard.signed_in",
  "sign_in_code.created",
  "link.created",
  "link.revoked",
  "link_key.rotated",
  "admin_token.renewed",
] as const;

export type EventName = typeof EVENTS[number];

/** An entry of a project's audit log. */
export interface EventRecord {
  /** Milliseconds since 1970. */
  at: number;
  event: EventName;
  /** The prefix of a project key, the id of an S3 key, `admin` or `command line`. */
  by: string;
  /** The client's address; empty without a client. */
  address: string;
  /** What was changed, never a secret. Absent if that is the project itself. */
  target?: string;
}

/** An entry of the server's audit log, which has a copy of every event of a project. */
export interface ServerEventRecord extends EventRecord {
  project?: string;
}
