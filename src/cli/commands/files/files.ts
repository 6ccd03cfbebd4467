import { ClientError } from "../../../client/errors.ts";
import type { FileInfo } from "../../../client/drives.ts";
import type { Entry, RemoteDrives } from "../../../client/remote_drives.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, sizeText, UsageError } from "../../terminal/output.ts";
import { confirm, requireTerminal } from "../../terminal/prompt.ts";
import { TransferProgress } from "../../terminal/task_progress.ts";
import { plural } from "../../terminal/text.ts";
import type { ClientCall } from "../client_call.ts";
import { type DrivePath, isFolder, parseDrivePath, requireDriveName } from "../drive_path.ts";

/** Columns of a time in ISO 8601. */
const TIME_WIDTH = 20;

export async function list(call: ClientCall): Promise<void> {
  using view = new TransferProgress(call.env);
  const [word] = call.operands;
  const drive = call.get("drive");
  if (word === undefined && drive === undefined) {
    const { connection, drives } = await call.connect(view);
    using _connection = connection;
    return await listDrives(call, view, drives);
  }
  const place = parsePrefix(word ?? "", drive);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  let count = 0;
  for await (const entry of drives.entries(place.drive, place.prefix, call.has("recursive"))) {
    count++;
    call.print(view, { drive: place.drive, ...jsonOf(entry) }, lineOf(entry));
  }
  if (count > 0) return;
  if (place.prefix !== "") {
    throw new CommandError(`There are no files with the prefix ${place.drive}:${place.prefix}`);
  }
  // Drives come into being with their first file, so an unknown one counts as empty.
  view.printNotice(`There are no files in the drive ${place.drive}`);
}

/** Parses `DRIVE:PREFIX`; a whole drive needs no colon. */
function parsePrefix(word: string, drive: string | undefined): { drive: string; prefix: string } {
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
    const count = files === null ? "" : `${plural(files, "file")}  `;
    const line = `${sizeColumn(bytes ?? undefined)}  ${count}${name}`;
    call.print(view, { drive: name, files, bytes }, line);
  }
}

function lineOf(entry: Entry): string {
  if (entry.size === undefined) return `${sizeColumn()}  ${" ".repeat(TIME_WIDTH)}  ${entry.name}`;
  const time = new Date(entry.modified).toISOString().replace(/\.\d+Z$/, "Z");
  return `${sizeColumn(entry.size)}  ${time}  ${entry.name}`;
}

/** Returns a column of sizes: of 7 characters on a terminal, of 15 for exact bytes. */
function sizeColumn(bytes?: number): string {
  const text = bytes === undefined ? "" : sizeText(bytes);
  return text.padStart(Deno.stdout.isTerminal() ? 7 : 15);
}

function jsonOf(entry: Entry): Record<string, unknown> {
  if (entry.size === undefined) return { name: entry.name };
  const { name, size, type, etag } = entry;
  return { name, size, content_type: type, etag, ...timesOf(entry) };
}

function timesOf({ modified, mtime }: FileInfo): Record<string, string> {
  return {
    modified: new Date(modified).toISOString(),
    ...(mtime === undefined ? {} : { mtime: new Date(mtime).toISOString() }),
  };
}

interface FileToDelete {
  drive: string;
  name: string;
  size: number;
}

export async function removeFiles(call: ClientCall): Promise<void> {
  const places = call.operands.map((word) => parseDrivePath(word, call.get("drive")));
  if (places.some(isFolder) && !call.has("recursive")) {
    throw new UsageError("Deleting a folder or a whole drive needs --recursive");
  }
  if (!call.has("yes")) requireTerminal(`${call.usage} --yes`);
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const missing: DrivePath[] = [];
  const files = await find(drives, places, missing);
  for (const { drive, name } of missing) view.printNotice(`There is no file ${drive}:${name}`);
  if (files.length > 0 && !call.has("yes")) confirm(questionOf(files));
  const failed = await remove(call, view, drives, files);
  if (failed + missing.length > 0) {
    throw new CommandError(`Cannot delete ${plural(failed + missing.length, "file")}: see above`);
  }
}

/** Lists the files to delete, and adds paths without a file to `missing`. */
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

/** Deletes files, and returns how many the server could not delete. */
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
      if (failed.has(name)) view.printNotice(`The server could not delete ${drive}:${name}`);
      else if (call.has("json")) call.print(view, { drive, name, deleted: true });
    }
    failures += failed.size;
  }
  if (!call.has("json") && files.length > failures) {
    call.print(view, {}, `Deleted ${plural(files.length - failures, "file")}`);
  }
  return failures;
}

export async function showFile(call: ClientCall): Promise<void> {
  const place = parseDrivePath(call.operand(0), call.get("drive"));
  if (isFolder(place)) throw new UsageError("A folder has no metadata: give a file as DRIVE:NAME");
  const { drive, name } = place;
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const file = await drives.stat(drive, name);
  if (file === undefined) throw new ClientError(`There is no file ${drive}:${name}`);
  const { size, type, etag, sha256 } = file;
  const facts = {
    drive,
    name,
    size,
    content_type: type,
    etag,
    ...timesOf(file),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
  if (call.has("json")) return call.print(view, facts);
  for (const [fact, value] of Object.entries(facts)) {
    call.print(view, {}, `${`${fact}:`.padEnd(14)}${value}`);
  }
}
