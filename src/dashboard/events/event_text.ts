import type { Schemas } from "../core/api.ts";
import { formatBytes, plural } from "../core/format.ts";

type EventName = Schemas["Event"]["event"];

/** Each event in words; the target follows. */
const TEXTS: Readonly<Record<EventName, string>> = {
  "project.created": "Project created",
  "project.deleted": "Project deleted",
  "project.renamed": "Project renamed",
  "quota.changed": "Limit changed",
  "trash.changed": "Trash changed",
  "changes.changed": "Feed of changes changed",
  "host_suffix.changed": "Domain for applications changed",
  "drive.deleted": "Drive deleted",
  "key.created": "Key created",
  "key.revoked": "Key revoked",
  "s3_key.created": "S3 key created",
  "s3_key.revoked": "S3 key revoked",
  "app.created": "Application created",
  "app.changed": "Application changed",
  "app.deleted": "Application deleted",
  "access.enabled": "Access control turned on",
  "access.disabled": "Access control turned off",
  "app_key.created": "Application key created",
  "app_key.revoked": "Application key revoked",
  "gate.signed_in": "Signed in to an application",
  "dashboard.signed_in": "Signed in to the dashboard",
  "sign_in_code.created": "Sign-in link created",
  "link.created": "Link created",
  "link.revoked": "Link revoked",
  "link_key.rotated": "All links revoked",
  "admin_token.renewed": "Administrator’s token renewed",
  "webhook.created": "Webhook created",
  "webhook.changed": "Webhook changed",
  "webhook.disabled": "Webhook disabled",
  "webhook.deleted": "Webhook deleted",
};

/** The id of an S3 key, which is listed in full. */
const ACCESS_KEY_ID = /^KV[A-Z0-9]{18}$/;

/** Returns who did it: the administrator, the server, the command line, or a key by its beginning or its id. */
export function actorText(by: string): string {
  if (by === "admin") return "Administrator";
  if (by === "server") return "Server";
  if (ACCESS_KEY_ID.test(by)) return `S3 key ${by}`;
  return by === "command line" ? "Command line" : `Key ${by}…`;
}

/** The values of settings in words. */
const SETTINGS: Readonly<Record<string, (value: string) => string>> = {
  name: (value) => value === "null" ? "no name" : value,
  max_bytes: (value) => value === "null" ? "none" : formatBytes(Number(value)),
  max_files: (value) => value === "null" ? "no limit of files" : plural(Number(value), "file"),
  trash_days: (value) => value === "0" ? "off" : plural(Number(value), "day"),
  change_days: (value) => value === "0" ? "off" : plural(Number(value), "day"),
  host_suffix: (value) => value === "null" ? "none" : value,
};

/** Returns what happened, such as "Key created: backup". */
export function eventText({ event, target }: Pick<Schemas["Event"], "event" | "target">): string {
  const text = TEXTS[event] ?? event;
  // The target of a sign-in is a session id, which tells users nothing.
  if (target === "" || event === "dashboard.signed_in") return text;
  const [, project, name = "", value = ""] = /^(?:(.*)\/)?(\w+)=(.*)$/.exec(target) ?? [];
  const words = SETTINGS[name]?.(value);
  if (words === undefined) return `${text}: ${target}`;
  return `${text}: ${words}${project === undefined ? "" : ` (${project})`}`;
}
