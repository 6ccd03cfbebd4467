import type { Schemas } from "../core/api.ts";
import { formatBytes, plural } from "../core/format.ts";
import { type Names, NO_NAMES } from "./event_names.ts";

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
  "link.changed": "Link changed",
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

/** Returns who did it: the administrator, the server, the command line, or a key by its name, its beginning or its id. */
export function actorText(by: string, names: Names = NO_NAMES): string {
  if (by === "admin") return "Administrator";
  if (by === "server") return "Server";
  if (by === "command line") return "Command line";
  const name = names.get(by);
  const kind = ACCESS_KEY_ID.test(by) ? "S3 key" : "Key";
  if (name !== undefined) return `${kind} “${name}”`;
  return kind === "Key" ? `${kind} ${by}…` : `${kind} ${by}`;
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
export function eventText(
  { event, target }: Pick<Schemas["Event"], "event" | "target">,
  names: Names = NO_NAMES,
): string {
  const text = TEXTS[event] ?? event;
  // The target of a sign-in is a session id, which tells users nothing.
  if (target === "" || event === "dashboard.signed_in") return text;
  const nameOf = (id: string) => names.get(id) ?? id;
  const [, project, name = "", value = ""] = /^(?:(.*)\/)?(\w+)=(.*)$/.exec(target) ?? [];
  const words = SETTINGS[name]?.(value);
  if (words !== undefined) {
    return `${text}: ${words}${project === undefined ? "" : ` (${nameOf(project)})`}`;
  }
  // In the log of the server, the project comes first.
  const [first = "", ...rest] = target.split("/");
  if (rest.length === 0 || names.has(target) || !names.has(first)) {
    return `${text}: ${nameOf(target)}`;
  }
  return `${text}: ${rest.join("/")} (${nameOf(first)})`;
}

/** Kinds of events that a list can be limited to, with the first words of their names. */
export const KINDS = {
  keys: ["Keys", ["key", "s3_key", "admin_token"]],
  links: ["Links", ["link", "link_key"]],
  apps: ["Applications", ["app", "app_key", "access", "host_suffix"]],
  webhooks: ["Webhooks", ["webhook"]],
  sign_ins: ["Sign-ins", ["dashboard", "gate", "sign_in_code"]],
  settings: ["Projects and settings", ["project", "quota", "trash", "changes", "drive"]],
} as const satisfies Record<string, readonly [label: string, words: readonly string[]]>;

export type Kind = keyof typeof KINDS;

/** Returns the kind in an address; `undefined` for all. */
export function kindIn(query: URLSearchParams): Kind | undefined {
  const kind = query.get("kind") ?? "";
  return Object.hasOwn(KINDS, kind) ? kind as Kind : undefined;
}

export function isOfKind(event: string, kind: Kind | undefined): boolean {
  const [word = ""] = event.split(".");
  return kind === undefined || (KINDS[kind][1] as readonly string[]).includes(word);
}
