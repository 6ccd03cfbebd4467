import type { ClientCommand } from "./client_command.ts";
import { getFiles } from "./get_command.ts";
import { listPlaces } from "./ls_command.ts";
import { putFiles } from "./put_command.ts";
import { removeFiles } from "./rm_command.ts";
import { showFile } from "./stat_command.ts";

const DRIVE = { name: "drive", value: "DRIVE", help: "the drive; what is DRIVE:NAME else is NAME" };
const MANY = Infinity;

/** Commands on the files of a server. */
export const fileCommands: readonly ClientCommand[] = [
  {
    name: "put",
    operands: "SOURCE... DRIVE:[NAME|FOLDER/]",
    count: [2, MANY],
    options: [
      { name: "type", value: "TYPE", help: "the content type (what the name says)" },
      { name: "new", help: "replace no file that is there" },
      DRIVE,
    ],
    summary: "send files, folders or standard input (-) to a drive",
    run: putFiles,
  },
  {
    name: "get",
    operands: "DRIVE:[NAME|FOLDER/] [PATH]",
    count: [1, 2],
    options: [{ name: "force", help: "replace files that are there" }, DRIVE],
    summary: "fetch a file, a folder or a drive, to standard output with -",
    run: getFiles,
  },
  {
    name: "ls",
    operands: "[DRIVE[:PREFIX]]",
    count: [0, 1],
    options: [{ name: "recursive", short: "r", help: "what is in folders too" }, DRIVE],
    summary: "list the drives, or what is in one",
    run: listPlaces,
  },
  {
    name: "rm",
    operands: "DRIVE:NAME...",
    count: [1, MANY],
    options: [
      { name: "recursive", short: "r", help: "delete all files of a folder or a drive" },
      { name: "yes", short: "y", help: "do it without asking" },
      DRIVE,
    ],
    summary: "delete files",
    run: removeFiles,
  },
  {
    name: "stat",
    operands: "DRIVE:NAME",
    count: [1, 1],
    options: [DRIVE],
    summary: "show what is known of a file",
    run: showFile,
  },
];
