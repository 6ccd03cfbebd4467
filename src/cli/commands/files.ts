import { ClientError } from "../../client/errors.ts";
import type { Entry, RemoteDrives } from "../../client/remote_drives.ts";
import { CommandError, UsageError } from "../terminal/errors.ts";
import { confirm, requireTerminal } from "../terminal/prompt.ts";
import { TransferProgress } from "../terminal/task_progress.ts";
import { formatBytes, plural } from "../terminal/text.ts";
import {
  type ClientCall,
  type ClientCommand,
  type DrivePath,
  isFolder,
  parseDrivePath,
  requireDriveName,
} from "./client_command.ts";
import { getFiles } from "./get.ts";
import { putFiles } from "./put.ts";

/** Columns of a size and of a time. */
const SIZE_WIDTH = 7;
const TIME_WIDTH = 20;

/** Lists drives, or what is in one. */
async function listPlaces(call: ClientCall): Promise<void> {
  using view = new TransferProgress(call.env);
  const [word] = call.operands;
  const drive = call.get("drive");
  if (word === undefined && drive === undefined) {
    const { connection, drives } = await call.connect(view);
    using _connection = connection;
    return await listDrives(call, view, drives);
  }
  const place = placeOf(word ?? "", drive);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  let count = 0;
  for await (const entry of drives.entries(place.drive, place.prefix, call.has("recursive"))) {
    count++;
    call.print(view, { drive: place.drive, ...jsonOf(entry) }, lineOf(entry));
  }
  if (count > 0) return;
  if (place.prefix !== "") {
    throw new CommandError(`There is nothing in ${place.drive} that begins with ${place.prefix}`);
  }
  // A drive comes with its first file, so a misspelt one is an empty one.
  view.say(`There is no file in the drive ${place.drive}`);
}

/** A drive alone needs no colon. */
function placeOf(word: string, drive: string | undefined): { drive: string; prefix: string } {
  const at = drive === undefined ? word.indexOf(":") : -1;
  const place = drive !== undefined
    ? { drive, prefix: word }
    : at === -1
    ? { drive: word, prefix: "" }
    : { drive: word.slice(0, at), prefix: word.slice(at + 1) };
  requireDriveName(place.drive);
  return place;
}

async function listDrives(
  call: ClientCall,
  view: TransferProgress,
  drives: RemoteDrives,
): Promise<void> {
  for (const { name, files, bytes } of await drives.listDrives()) {
    const line = `${formatBytes(bytes).padStart(SIZE_WIDTH)}  ${plural(files, "file")}  ${name}`;
    call.print(view, { drive: name, files, bytes }, line);
  }
}

function lineOf(entry: Entry): string {
  if (entry.size === undefined) return `${" ".repeat(SIZE_WIDTH + 2 + TIME_WIDTH)}  ${entry.name}`;
  const time = new Date(entry.modified).toISOString().replace(/\.\d+Z$/, "Z");
  return `${formatBytes(entry.size).padStart(SIZE_WIDTH)}  ${time}  ${entry.name}`;
}

function jsonOf(entry: Entry): Record<string, unknown> {
  if (entry.size === undefined) return { name: entry.name };
  const { name, size, type, etag, modified } = entry;
  return { name, size, content_type: type, etag, modified: new Date(modified).toISOString() };
}

/** A file that is to be deleted. */
interface FileToDelete {
  drive: string;
  name: string;
  size: number;
}

/** Deletes files. */
async function removeFiles(call: ClientCall): Promise<void> {
  const places = call.operands.map((word) => parseDrivePath(word, call.get("drive")));
  if (places.some(isFolder) && !call.has("recursive")) {
    throw new UsageError("A folder or a whole drive is deleted with --recursive alone");
  }
  if (!call.has("yes")) requireTerminal(`${call.form} --yes`);
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const missing: DrivePath[] = [];
  const files = await find(drives, places, missing);
  for (const { drive, name } of missing) view.say(`There is no file ${drive}:${name}`);
  if (files.length > 0 && !call.has("yes")) confirm(questionOf(files));
  const failed = await remove(call, view, drives, files);
  if (failed + missing.length > 0) {
    throw new CommandError(`${plural(failed + missing.length, "file")} could not be deleted`);
  }
}

async function find(
  drives: RemoteDrives,
  places: readonly DrivePath[],
  missing: DrivePath[],
): Promise<FileToDelete[]> {
  const files: FileToDelete[] = [];
  for (const place of places) {
    const { drive, name } = place;
    const count = files.length;
    if (isFolder(place)) {
      for await (const { name: found, size } of drives.listFiles(drive, name)) {
        files.push({ drive, name: found, size });
      }
    } else {
      const file = await drives.stat(drive, name);
      if (file !== undefined) files.push({ drive, name, size: file.size });
    }
    if (files.length === count) missing.push(place);
  }
  return files;
}

function questionOf(files: readonly FileToDelete[]): string {
  const [first] = files;
  if (files.length === 1 && first !== undefined) {
    return `Delete ${first.drive}:${first.name} (${formatBytes(first.size)})?`;
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  return `Delete ${plural(files.length, "file")} (${formatBytes(bytes)})?`;
}

/** Gives how many could not be deleted. */
async function remove(
  call: ClientCall,
  view: TransferProgress,
  drives: RemoteDrives,
  files: readonly FileToDelete[],
): Promise<number> {
  let failures = 0;
  for (const [drive, ofDrive] of Map.groupBy(files, ({ drive }) => drive)) {
    const names = [...new Set(ofDrive.map(({ name }) => name))];
    const failed = new Set(await drives.remove(drive, names));
    for (const name of names) {
      if (failed.has(name)) view.say(`The server could not delete ${drive}:${name}`);
      else if (call.has("json")) call.print(view, { drive, name, deleted: true });
    }
    failures += failed.size;
  }
  if (!call.has("json") && files.length > failures) {
    call.print(view, {}, `Deleted ${plural(files.length - failures, "file")}`);
  }
  return failures;
}

/** Shows what is known of a file. */
async function showFile(call: ClientCall): Promise<void> {
  const place = parseDrivePath(call.operand(0), call.get("drive"));
  if (isFolder(place)) throw new UsageError("A file is needed: name it as DRIVE:NAME");
  const { drive, name } = place;
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const file = await drives.stat(drive, name);
  if (file === undefined) throw new ClientError(`There is no file ${drive}:${name}`);
  const { size, type, etag, modified, sha256 } = file;
  const facts = {
    drive,
    name,
    size,
    content_type: type,
    etag,
    modified: new Date(modified).toISOString(),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
  if (call.has("json")) return call.print(view, facts);
  for (const [fact, value] of Object.entries(facts)) {
    call.print(view, {}, `${`${fact}:`.padEnd(14)}${value}`);
  }
}

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
