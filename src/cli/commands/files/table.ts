import type { OptionSpec } from "../../options/arguments.ts";
import type { Command } from "../../options/command.ts";
import { clientCommand, DRIVE_OPTION, YES } from "../client_command.ts";
import { TRANSFER_OPTIONS } from "./options.ts";

const EXPORT_OPTIONS: readonly OptionSpec[] = [
  { name: "data", value: "DIR", help: "open the store in this folder instead of asking a server" },
  { name: "drive", value: "DRIVE", help: "only this drive", unset: "all drives" },
  { name: "force", help: "replace other files of the same names" },
];

export const fileCommands: readonly Command[] = [
  clientCommand({
    name: "put",
    operands: ["SOURCE...", "DRIVE:[NAME|FOLDER/]"],
    options: [
      { name: "type", value: "TYPE", help: "content type of the files", unset: "by the file name" },
      { name: "new", help: "do not replace existing files" },
      DRIVE_OPTION,
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
    options: [{ name: "force", help: "replace existing files" }, DRIVE_OPTION],
    summary: "fetch a file, a folder or a drive; - writes to standard output",
    examples: [
      ["kvdrive get photos:cat.jpg", "Fetch a file into this folder"],
      ["kvdrive get photos:2021/ pictures", "Fetch everything below 2021/ into pictures"],
      ["kvdrive get backup:src.tar.gz - | tar tz", "Write a file to standard output"],
    ],
    load: async () => (await import("./get.ts")).getFiles,
  }),
  clientCommand({
    name: "ls",
    operands: ["[DRIVE[:PREFIX]]"],
    options: [{ name: "recursive", short: "r", help: "also list files in folders" }, DRIVE_OPTION],
    summary: "list the drives, or the files of a drive",
    examples: [
      ["kvdrive ls", "List the drives"],
      ["kvdrive ls photos", "List the top folder of a drive"],
      ["kvdrive ls photos:2021/ --recursive --json", "List a folder as JSON, with all below it"],
    ],
    load: async () => (await import("./files.ts")).list,
  }),
  clientCommand({
    name: "rm",
    operands: ["DRIVE:NAME..."],
    options: [
      { name: "recursive", short: "r", help: "delete all files of a folder or a drive" },
      YES,
      DRIVE_OPTION,
    ],
    summary: "delete files",
    examples: [
      ["kvdrive rm photos:cat.jpg", "Delete a file, after a question"],
      ["kvdrive rm photos:2021/ --recursive --yes", "Delete a folder without a question"],
    ],
    load: async () => (await import("./files.ts")).removeFiles,
  }),
  clientCommand({
    name: "stat",
    operands: ["DRIVE:NAME"],
    options: [DRIVE_OPTION],
    summary: "show the metadata of a file",
    examples: [["kvdrive stat photos:cat.jpg", "Show size, type, times and digest"]],
    load: async () => (await import("./files.ts")).showFile,
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
