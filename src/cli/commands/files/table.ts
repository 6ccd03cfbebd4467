import type { OptionSpec } from "../../options/arguments.ts";
import type { Command } from "../../options/command.ts";
import { clientCommand, DRIVE_OPTION, YES } from "../command_kinds.ts";
import { DEFAULT_CONCURRENCY } from "../defaults.ts";

/** Options that choose files. */
const FILTER_OPTIONS: readonly OptionSpec[] = [
  { name: "include", value: "GLOB", isList: true, help: "only files that match; may be repeated" },
  {
    name: "exclude",
    value: "GLOB",
    isList: true,
    help: "no files that match; may be repeated, and goes before --include",
  },
];

const DRY_RUN: OptionSpec = { name: "dry-run", help: "only print what would be done" };

/** Options of every command that transfers files. */
const TRANSFER_OPTIONS: readonly OptionSpec[] = [
  ...FILTER_OPTIONS,
  DRY_RUN,
  {
    name: "concurrency",
    value: "COUNT",
    help: "files, or parts of 10 MB, in transfer at once",
    default: `${DEFAULT_CONCURRENCY}`,
  },
  {
    name: "bandwidth",
    value: "SIZE",
    help: "bytes a second at most, such as 500kB",
    unset: "no limit",
  },
];

const NO_CLOBBER: OptionSpec = {
  name: "no-clobber",
  short: "n",
  help: "leave existing files as they are",
};

const EXPORT_OPTIONS: readonly OptionSpec[] = [
  { name: "data", value: "DIR", help: "open the store in this folder instead of asking a server" },
  { name: "drive", value: "DRIVE", help: "only this drive", unset: "all drives" },
  { name: "force", help: "replace other files of the same names" },
];

const RECURSIVE_BY_HABIT: OptionSpec = {
  name: "recursive",
  short: "r",
  help: "has no effect: folders are transferred with all in them",
};

const DIGEST: OptionSpec = {
  name: "digest",
  help: "also show the SHA-256 of files, which takes a request each",
};

export const fileCommands: readonly Command[] = [
  clientCommand({
    name: "put",
    operands: ["SOURCE...", "DRIVE:[NAME|FOLDER/]"],
    options: [
      { name: "type", value: "TYPE", help: "content type of the files", unset: "by the file name" },
      { name: "new", help: "do not replace existing files" },
      DRIVE_OPTION,
      ...TRANSFER_OPTIONS,
    ],
    summary: "send files, folders or standard input (-) to a drive",
    examples: [
      ["kvdrive put cat.jpg photos:", "Store cat.jpg in the drive photos"],
      ["kvdrive put holidays photos:2021/", "Store a folder as 2021/holidays/"],
      ["tar cz src | kvdrive put - backup:src.tar.gz", "Store standard input"],
    ],
    load: async () => (await import("./put.ts")).putFiles,
  }),
  clientCommand({
    name: "get",
    operands: ["DRIVE:[NAME|FOLDER/]", "[PATH]"],
    options: [
      { name: "force", help: "replace existing files" },
      DRIVE_OPTION,
      ...TRANSFER_OPTIONS,
    ],
    summary: "fetch a file, a folder or a drive; - writes to standard output",
    examples: [
      ["kvdrive get photos:cat.jpg", "Fetch a file into this folder"],
      ["kvdrive get photos:2021/ pictures", "Fetch everything below 2021/ into pictures"],
      ["kvdrive get 'photos:*.gif' pictures", "Fetch the files that match a pattern"],
      ["kvdrive get backup:src.tar.gz - | tar tz", "Write a file to standard output"],
    ],
    load: async () => (await import("./get.ts")).getFiles,
  }),
  clientCommand({
    name: "cp",
    operands: ["SOURCE...", "TARGET"],
    options: [NO_CLOBBER, RECURSIVE_BY_HABIT, ...TRANSFER_OPTIONS],
    summary: "copy files within drives, or between a drive and this machine",
    examples: [
      ["kvdrive cp photos:cat.jpg photos:pets/", "Copy a file; the server does it at once"],
      ["kvdrive cp photos:2021/ backup:photos/2021/", "Copy what is in a folder"],
      ["kvdrive cp 'photos:*.gif' pictures", "Fetch the files that match a pattern"],
      ["kvdrive cp cat.jpg dog.jpg photos:pets/", "Send files"],
    ],
    load: async () => (await import("./copy.ts")).copyFiles,
  }),
  clientCommand({
    name: "mv",
    operands: ["SOURCE...", "TARGET"],
    options: [NO_CLOBBER, RECURSIVE_BY_HABIT, ...TRANSFER_OPTIONS],
    summary: "move or rename files, or move them between a drive and this machine",
    examples: [
      ["kvdrive mv photos:cat.jpg photos:tom.jpg", "Rename a file"],
      ["kvdrive mv photos:2021/ archive:photos/2021/", "Move what is in a folder"],
      ["kvdrive mv film.mkv videos:", "Send a file, and delete it here"],
    ],
    load: async () => (await import("./copy.ts")).moveFiles,
  }),
  clientCommand({
    name: "ls",
    operands: ["[DRIVE[:PREFIX]]"],
    options: [
      { name: "recursive", short: "r", help: "also list files in folders" },
      DIGEST,
      DRIVE_OPTION,
    ],
    summary: "list the drives, or the files of a drive",
    examples: [
      ["kvdrive ls", "List the drives"],
      ["kvdrive ls photos", "List the top folder of a drive"],
      ["kvdrive ls 'photos:*.gif'", "List the files that match a pattern"],
      ["kvdrive ls photos:2021/ --recursive --json", "List a folder as JSON, with all below it"],
    ],
    load: async () => (await import("./list.ts")).list,
  }),
  clientCommand({
    name: "find",
    operands: ["DRIVE[:PREFIX]"],
    options: [
      { name: "name", value: "GLOB", help: "only names that match" },
      { name: "size", value: "SIZE", help: "only files larger (+1MB) or smaller (-1MB)" },
      { name: "newer", value: "TIME", help: "only files modified in the last 7d, 24h, …" },
      DIGEST,
      DRIVE_OPTION,
    ],
    summary: "find files by name, size and age",
    examples: [
      ["kvdrive find photos: --name '*.tmp'", "Print the files of that name, in any folder"],
      ["kvdrive find photos:2021/ --size +10MB --newer 7d", "Print large and recent files"],
    ],
    load: async () => (await import("./list.ts")).findFiles,
  }),
  clientCommand({
    name: "du",
    operands: ["[DRIVE[:PREFIX]]"],
    options: [DRIVE_OPTION],
    summary: "show how many files and bytes are in folders",
    examples: [
      ["kvdrive du photos", "Show the folders of a drive, and their sum"],
      ["kvdrive du photos:2021/", "Show the folders in a folder"],
    ],
    load: async () => (await import("./list.ts")).showUsage,
  }),
  clientCommand({
    name: "stat",
    operands: ["DRIVE:NAME..."],
    options: [DRIVE_OPTION],
    summary: "show the metadata of files",
    examples: [["kvdrive stat photos:cat.jpg", "Show size, type, times and digest"]],
    load: async () => (await import("./list.ts")).showFiles,
  }),
  clientCommand({
    name: "cat",
    operands: ["DRIVE:NAME..."],
    options: [
      { name: "range", value: "FIRST-LAST", help: "only these bytes, counted from 0" },
      DRIVE_OPTION,
    ],
    summary: "write files to standard output",
    examples: [
      ["kvdrive cat notes:todo.txt", "Print a file"],
      ["kvdrive cat logs:today --range -1000", "Print the last 1000 bytes"],
      ["kvdrive cat films:a.mkv --range 0-99", "Print the first 100 bytes"],
    ],
    load: async () => (await import("./get.ts")).printFiles,
  }),
  clientCommand({
    name: "rm",
    operands: ["DRIVE:NAME..."],
    options: [
      { name: "recursive", short: "r", help: "delete all files of a folder or a drive" },
      YES,
      ...FILTER_OPTIONS,
      DRY_RUN,
      DRIVE_OPTION,
    ],
    summary: "delete files",
    examples: [
      ["kvdrive rm photos:cat.jpg", "Delete a file, after a question"],
      ["kvdrive rm 'photos:*.tmp' --dry-run", "Print which files match a pattern"],
      ["kvdrive rm photos:2021/ --recursive --yes", "Delete a folder without a question"],
    ],
    load: async () => (await import("./remove.ts")).removeFiles,
  }),
  clientCommand({
    name: "sync",
    operands: ["SOURCE", "TARGET"],
    options: [
      { name: "delete", help: "delete files of the target that the source does not have" },
      { name: "checksum", help: "compare files of the same size by their SHA-256, not their time" },
      { name: "watch", help: "keep running, and transfer changes as they are made" },
      { name: "yes", short: "y", help: "let --delete empty the target if the source is empty" },
      ...TRANSFER_OPTIONS,
    ],
    summary: "make a folder like another one, of which one is in a drive",
    examples: [
      ["kvdrive sync pictures photos:2021/", "Send what is new or changed"],
      ["kvdrive sync photos:2021/ pictures --delete", "Fetch it, and delete what is gone there"],
      ["kvdrive sync photos: backup:photos/ --dry-run", "Print what would be copied"],
      ["kvdrive sync site web: --delete --watch", "Send every change as it is made"],
    ],
    load: async () => (await import("./sync.ts")).syncFolders,
  }),
  clientCommand({
    name: "changes",
    operands: ["DRIVE"],
    options: [
      {
        name: "since",
        value: "CURSOR",
        help: "only changes after this one; now for those to come",
        unset: "all that are kept",
      },
      { name: "follow", short: "f", help: "keep running, and print changes as they are made" },
    ],
    summary: "print what happened to the files of a drive",
    examples: [
      ["kvdrive changes photos", "Print the changes that the project keeps"],
      ["kvdrive changes photos --follow --since now --json", "Tell a program of each new change"],
    ],
    load: async () => (await import("./list.ts")).showChanges,
  }),
  clientCommand({
    name: "export",
    operands: ["DIR|FILE.zip"],
    options: EXPORT_OPTIONS,
    summary: "copy drives to a folder or archive, as drives/DRIVE/FILE",
    examples: [
      ["kvdrive export album.zip", "Copy all drives of the project into an archive"],
      ["kvdrive export album --drive photos", "Copy one drive into a folder"],
    ],
    load: async () => (await import("./export_import.ts")).runExport,
  }),
  clientCommand({
    name: "import",
    operands: ["DIR|FILE.zip"],
    options: EXPORT_OPTIONS,
    summary: "copy such a folder or archive to drives",
    examples: [["kvdrive import album.zip", "Copy all drives of an archive into the project"]],
    load: async () => (await import("./export_import.ts")).runImport,
  }),
];
