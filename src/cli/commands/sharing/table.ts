import type { OptionSpec } from "../../options/arguments.ts";
import type { Command } from "../../options/command.ts";
import { clientCommand, DRIVE_OPTION, serverCommand } from "../command_kinds.ts";

const DRIVE_OF_IDS: OptionSpec = {
  ...DRIVE_OPTION,
  help: "the drive of the ids",
  unset: "all are searched",
};

const SECRECY: OptionSpec = {
  name: "password",
  help: "ask for a password, or read it from standard input",
};

export const linkCommands: readonly Command[] = [
  serverCommand({
    name: "link create",
    operands: ["DRIVE:NAME|FOLDER/"],
    options: [
      { name: "expires-in", value: "TIME", help: "life of the link", unset: "until revoked" },
      { name: "max-downloads", value: "N", help: "downloads after which it is used up" },
      { name: "download", help: "browsers save the files rather than show them" },
      SECRECY,
      DRIVE_OPTION,
    ],
    summary: "create an address that opens a file or a folder without a key",
    examples: [
      ["kvdrive link create photos:cat.jpg --expires-in 7d", "A link to a file, for a week"],
      ["kvdrive link create photos:2021/ --password", "A link to a folder, with a password"],
    ],
    load: async () => (await import("./links.ts")).createLink,
  }),
  serverCommand({
    name: "link change",
    operands: ["ID|URL"],
    options: [
      { name: "expires-in", value: "TIME", help: "its life from now on, or none" },
      { name: "max-downloads", value: "N", help: "downloads after which it is used up, or none" },
      { name: "download", help: "browsers save the files rather than show them" },
      { name: "show", help: "browsers show the files" },
      SECRECY,
      { name: "no-password", help: "it needs no password" },
      DRIVE_OF_IDS,
    ],
    summary: "change the settings of a link, whose address stays the same",
    examples: [
      ["kvdrive link change 01J9Z3NDEKTSV4RRFFQ69G5FAV --expires-in 30d", "A longer life"],
      ["kvdrive link change 01J9Z3NDEKTSV4RRFFQ69G5FAV --max-downloads none", "Remove a limit"],
    ],
    load: async () => (await import("./links.ts")).changeLink,
  }),
  serverCommand({
    name: "link list",
    operands: ["[DRIVE]"],
    summary: "list the links of a drive, or of all drives",
    examples: [["kvdrive link list photos", "Print a table, the newest first"]],
    load: async () => (await import("./links.ts")).listLinks,
  }),
  serverCommand({
    name: "link revoke",
    operands: ["ID|URL..."],
    options: [DRIVE_OF_IDS],
    summary: "revoke links",
    examples: [
      ["kvdrive link revoke 01J9Z3NDEKTSV4RRFFQ69G5FAV", "By the id that link list shows"],
      ["kvdrive link revoke https://files.example.com/s/01J9Z3…", "By the address"],
    ],
    load: async () => (await import("./links.ts")).revokeLinks,
  }),
];

export const trashCommands: readonly Command[] = [
  serverCommand({
    name: "trash list",
    operands: ["[DRIVE[:PREFIX]]"],
    summary: "list deleted and replaced files",
    examples: [["kvdrive trash list photos", "Print a table, the newest first"]],
    load: async () => (await import("./trash.ts")).listTrash,
  }),
  serverCommand({
    name: "trash restore",
    operands: ["DRIVE:NAME|ID..."],
    options: [
      { name: "overwrite", help: "replace a file that has the name now" },
      DRIVE_OF_IDS,
    ],
    summary: "restore files from the trash",
    examples: [
      ["kvdrive trash restore photos:cat.jpg", "Restore what was deleted last"],
      ["kvdrive trash restore 01J9Z3NDEKTSV4RRFFQ69G5FAV", "Restore an item of trash list"],
    ],
    load: async () => (await import("./trash.ts")).restoreTrash,
  }),
  serverCommand({
    name: "trash empty",
    operands: ["[DRIVE]"],
    asks: true,
    summary: "delete everything in the trash for good",
    examples: [["kvdrive trash empty photos", "Empty the trash of a drive, after a question"]],
    load: async () => (await import("./trash.ts")).emptyTrash,
  }),
];

export const uploadCommands: readonly Command[] = [
  serverCommand({
    name: "upload list",
    operands: ["[DRIVE]"],
    summary: "list uploads that are not complete",
    examples: [["kvdrive upload list photos", "Print a table"]],
    load: async () => (await import("./drives.ts")).listUploads,
  }),
  serverCommand({
    name: "upload abort",
    operands: ["DRIVE:NAME|ID..."],
    options: [DRIVE_OF_IDS],
    summary: "abort uploads, and free their bytes",
    examples: [["kvdrive upload abort photos:film.mkv", "Abort the open uploads of a file"]],
    load: async () => (await import("./drives.ts")).abortUploads,
  }),
];

export const driveCommands: readonly Command[] = [
  serverCommand({
    name: "drive list",
    summary: "list the drives and their sizes",
    examples: [["kvdrive drive list", "Print a table"]],
    load: async () => (await import("./drives.ts")).listDrives,
  }),
  serverCommand({
    name: "drive create",
    operands: ["DRIVE"],
    summary: "create an empty drive",
    examples: [["kvdrive drive create photos", "Create it; the first upload would do it, too"]],
    load: async () => (await import("./drives.ts")).createDrive,
  }),
  serverCommand({
    name: "drive delete",
    operands: ["DRIVE"],
    asks: true,
    summary: "delete a drive with all its files",
    examples: [["kvdrive drive delete photos", "Delete it, after a question"]],
    load: async () => (await import("./drives.ts")).deleteDrive,
  }),
  clientCommand({
    name: "archive",
    operands: ["DRIVE:[NAME|FOLDER/]..."],
    options: [
      {
        name: "output",
        short: "o",
        value: "FILE",
        help: "the archive; - is standard output",
        unset: "DRIVE.zip",
      },
      { name: "force", help: "replace an existing file" },
      DRIVE_OPTION,
    ],
    summary: "fetch files of a drive as one zip archive",
    examples: [
      ["kvdrive archive photos:2021/ -o 2021.zip", "Fetch a folder"],
      ["kvdrive archive photos:cat.jpg photos:dog.jpg", "Fetch two files into photos.zip"],
    ],
    load: async () => (await import("./archive.ts")).fetchArchive,
  }),
];
