import type { Command } from "../../options/command.ts";
import { S3_SECRET_FILE, storeCommand } from "../command_kinds.ts";

export const storeCommands: readonly Command[] = [
  storeCommand({
    name: "backup",
    operands: ["FILE"],
    options: [{ name: "force", help: "replace FILE if it exists" }, S3_SECRET_FILE],
    summary: "copy the store to a file, while the server is running or not",
    examples: [["kvdrive backup /srv/backups/today.db", "Copy the store in ./data"]],
    load: async () => (await import("./backup.ts")).backUp,
  }),
  storeCommand({
    name: "restore",
    operands: ["FILE"],
    options: [
      { name: "force", help: "replace the existing store, which is kept next to the new one" },
      { name: "damaged", help: "restore a damaged backup, without its damaged files" },
      S3_SECRET_FILE,
    ],
    summary: "verify a backup and make it the store; the server must be stopped",
    examples: [["kvdrive restore /srv/backups/today.db", "Make the backup the store in ./data"]],
    load: async () => (await import("./backup.ts")).replaceStore,
  }),
  storeCommand({
    name: "verify",
    options: [
      { name: "repair", help: "remove orphaned data, and correct counters and lists" },
      {
        name: "backup-dir",
        value: "DIR",
        help: "warn if the newest backup in it is too old",
        variable: "KVDRIVE_BACKUP_DIR",
      },
      {
        name: "every",
        value: "TIME",
        help: "time between two backups",
        variable: "KVDRIVE_EVERY",
        default: "24h",
      },
      S3_SECRET_FILE,
    ],
    summary: "check the integrity of the store",
    examples: [
      ["kvdrive verify", "Read the store in ./data, and report problems"],
      ["kvdrive verify --repair", "Correct them as well"],
    ],
    load: async () => (await import("./verify.ts")).verify,
  }),
  storeCommand({
    name: "admin-token reset",
    asks: true,
    makesStore: true,
    summary: "replace the administrator's token",
    examples: [["kvdrive admin-token reset", "Print a new token; the current one stops working"]],
    load: async () => (await import("./secrets.ts")).resetAdminToken,
  }),
  storeCommand({
    name: "link rotate-key",
    asks: true,
    summary: "revoke all links of all projects, by a new signing key",
    examples: [["kvdrive link rotate-key", "Revoke all links, after a question"]],
    load: async () => (await import("./secrets.ts")).rotateLinkKey,
  }),
];
