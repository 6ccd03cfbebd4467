import type { Command } from "../../options/command.ts";
import type { OptionSpec } from "../../options/arguments.ts";
import { KEEP_OPTIONS } from "../../options/configuration.ts";
import { commandWithoutStore, S3_SECRET_FILE, storeCommand } from "../command_kinds.ts";
import { UsageError } from "../../terminal/output.ts";
import type { CommandCall } from "../command_call.ts";

/** Options of every command that opens a repository. */
const REPOSITORY: readonly OptionSpec[] = [
  {
    name: "s3-endpoint",
    value: "URL",
    help: "address of S3; its key is in AWS_ACCESS_KEY_ID and so on",
    unset: "AWS",
  },
  {
    name: "passphrase-file",
    value: "FILE",
    help: "file with the passphrase of the repository",
    unset: "KVDRIVE_BACKUP_PASSPHRASE",
  },
  { name: "unencrypted", help: "allow a repository in S3 without a passphrase" },
];

const TO: OptionSpec = {
  name: "to",
  value: "TARGET",
  help: "the repository: a folder, or s3://BUCKET/PREFIX",
};

const REQUIRED_TO: OptionSpec = { ...TO, isRequired: true };

const BANDWIDTH: OptionSpec = {
  name: "bandwidth",
  value: "SIZE",
  help: "bytes a second, at most",
  unset: "no limit",
};

export const storeCommands: readonly Command[] = [
  commandWithoutStore({
    name: "backup list",
    options: [REQUIRED_TO, ...REPOSITORY],
    summary: "list the snapshots of a repository, the newest last",
    examples: [["kvdrive backup list --to /srv/backups", "Show ids, times and sizes"]],
    load: async () => (await import("./snapshots.ts")).listSnapshots,
  }),
  commandWithoutStore({
    name: "backup check",
    options: [
      REQUIRED_TO,
      { name: "read-all", help: "read all objects, and not only their names and sizes" },
      ...REPOSITORY,
      BANDWIDTH,
    ],
    summary: "check that a repository has everything that its snapshots need",
    examples: [["kvdrive backup check --to /srv/backups --read-all", "Read and compare all bytes"]],
    load: async () => (await import("./snapshots.ts")).checkSnapshots,
  }),
  commandWithoutStore({
    name: "backup prune",
    options: [
      REQUIRED_TO,
      ...KEEP_OPTIONS,
      { name: "dry-run", help: "only show what would be removed" },
      ...REPOSITORY,
      BANDWIDTH,
    ],
    summary: "remove old snapshots, and what no other one needs",
    examples: [
      ["kvdrive backup prune --to /srv/backups --keep-daily 7 --keep-weekly 8", "Keep two months"],
    ],
    load: async () => (await import("./snapshots.ts")).pruneSnapshots,
  }),
  commandWithoutStore({
    name: "backup key list",
    options: [REQUIRED_TO, ...REPOSITORY],
    summary: "list the keys of an encrypted repository",
    examples: [["kvdrive backup key list --to /srv/backups", "Show their ids"]],
    load: async () => (await import("./repository.ts")).showKeys,
  }),
  commandWithoutStore({
    name: "backup key add",
    options: [
      REQUIRED_TO,
      {
        name: "new-passphrase-file",
        value: "FILE",
        help: "file with the further passphrase",
        unset: "KVDRIVE_BACKUP_NEW_PASSPHRASE",
      },
      ...REPOSITORY,
    ],
    summary: "let a further passphrase open an encrypted repository",
    examples: [
      ["kvdrive backup key add --to /srv/backups --new-passphrase-file new.txt", "Add one"],
    ],
    load: async () => (await import("./repository.ts")).addPassphrase,
  }),
  commandWithoutStore({
    name: "backup key remove",
    operands: ["ID"],
    options: [REQUIRED_TO, ...REPOSITORY],
    summary: "remove a key of an encrypted repository, and so its passphrase",
    examples: [["kvdrive backup key remove 1f0c5a7e9b2d4c68 --to /srv/backups", "Remove one"]],
    load: async () => (await import("./repository.ts")).removePassphrase,
  }),
  storeCommand({
    name: "backup",
    operands: ["[FILE]"],
    options: [
      { name: "force", help: "replace FILE if it exists" },
      TO,
      ...REPOSITORY,
      BANDWIDTH,
      S3_SECRET_FILE,
    ],
    summary: "copy the store to a file, or what changed to a repository",
    examples: [
      ["kvdrive backup /srv/backups/today.db", "Copy the store in ./data"],
      ["kvdrive backup --to /srv/backups", "Add a snapshot to a repository"],
    ],
    load: () => Promise.resolve(backUpToEither),
  }),
  storeCommand({
    name: "restore",
    operands: ["[FILE]"],
    options: [
      { name: "force", help: "replace the existing store, which is kept next to the new one" },
      { name: "damaged", help: "restore a damaged backup, without its damaged files" },
      { ...TO, name: "from" },
      { name: "at", value: "TIME", help: "the last snapshot up to this time, in UTC" },
      { name: "snapshot", value: "ID", help: "this snapshot", unset: "the newest" },
      { name: "drive", value: "DRIVE", help: "the drive of a single file" },
      { name: "file", value: "NAME", help: "restore only this file, and no store" },
      { name: "project", value: "PROJECT", help: "its project, if several have such a file" },
      {
        name: "output",
        short: "o",
        value: "FILE",
        help: "where it is written; - is standard output",
        unset: "NAME in this folder",
      },
      ...REPOSITORY,
      BANDWIDTH,
      S3_SECRET_FILE,
    ],
    summary: "verify a backup and make it the store; the server must be stopped",
    examples: [
      ["kvdrive restore /srv/backups/today.db", "Make the backup the store in ./data"],
      ["kvdrive restore --from /srv/backups", "Make the newest snapshot the store"],
    ],
    load: () => Promise.resolve(restoreFromEither),
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

/** Backs the store up to a file or to a repository. Only what the call needs is loaded: snapshots take less memory so. */
async function backUpToEither(call: CommandCall): Promise<void> {
  if (fileOr(call, "to") === undefined) {
    return await (await import("./add_snapshot.ts")).addSnapshot(call);
  }
  await (await import("./backup.ts")).backUp(call);
}

/** Restores from a file or from a repository. */
async function restoreFromEither(call: CommandCall): Promise<void> {
  if (fileOr(call, "from") === undefined) {
    return await (await import("./restore.ts")).restoreFrom(call);
  }
  await (await import("./backup.ts")).replaceStore(call);
}

/** Returns the operand FILE; `undefined` if an option names a repository in place of it. @throws {UsageError} */
function fileOr(call: CommandCall, option: "to" | "from"): string | undefined {
  const file = call.get("FILE");
  if ((file === undefined) === (call.get(option) !== undefined)) {
    requireNoStrayOptions(call, file === undefined ? FILE_ONLY[option] : REPOSITORY_ONLY);
    return file;
  }
  throw new UsageError(
    file === undefined
      ? `FILE is missing: give one, or a repository with --${option}: usage: ${call.args.usage}`
      : `FILE and --${option} exclude each other: see kvdrive help ${call.args.name}`,
  );
}

/** Options that have no meaning with a repository, or without one. */
const FILE_ONLY = { to: ["force"], from: [] } as const;
const REPOSITORY_ONLY = [
  "s3-endpoint",
  "passphrase-file",
  "unencrypted",
  "bandwidth",
  "at",
  "snapshot",
  "drive",
  "file",
  "project",
  "output",
] as const;

function requireNoStrayOptions(call: CommandCall, options: readonly string[]): void {
  const stray = options.find((name) => call.has(name));
  if (stray === undefined) return;
  throw new UsageError(
    `The option --${stray} does not fit here: see kvdrive help ${call.args.name}`,
  );
}
