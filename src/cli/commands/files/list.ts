import { decodeBase64 } from "@std/encoding/base64";
import { encodeHex } from "@std/encoding/hex";
import { KvdriveError } from "../../../client/errors.ts";
import { copyTime, type Entry, type FileInfo, type RemoteDrives } from "../../../client/drives.ts";
import { escapeGlob, Glob, NameFilter } from "../../../rules/globs.ts";
import { DAY, formatBytes, parseByteSize, parseDuration } from "../../../rules/units.ts";
import { parseValue } from "../../options/arguments.ts";
import type { ValueType } from "../../options/value_types.ts";
import { CommandError, sizeText, UsageError } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { Session } from "../session.ts";
import { parseSelection, requireDriveName, type Selection } from "../drive_path.ts";
import { RemoteSource } from "./remote_source.ts";
import type { Change, ChangePageOptions } from "../../../client/api/changes.ts";
import { CHANGE_WAIT } from "../../../client/sync/watch.ts";

/** `kvdrive ls`: the drives, or the files and folders of a drive. */
export async function list(call: CommandCall): Promise<void> {
  const [word] = call.operands;
  if (word === undefined && call.get("drive") === undefined) return await listDrives(call);
  const place = parsePlace(word ?? "", call.get("drive"));
  using session = await Session.open(call);
  const { drives } = session;
  const hasDigests = call.has("digest");
  const found = matchesOf(drives, place, call.has("recursive"));
  let count = 0;
  for await (const entry of hasDigests ? withDigests(drives, place.drive, found) : found) {
    count++;
    const json = { drive: place.drive, ...jsonOf(entry) };
    session.print(json, lineOf(entry, entry.name, hasDigests));
  }
  if (count === 0) session.view.printNotice(await emptyNotice(drives, place));
}

/** Returns what is said of a drive or folder without files. @throws {ClientError} if it does not exist. */
async function emptyNotice(drives: RemoteDrives, place: Selection): Promise<string> {
  const { drive, glob: { prefix, literal }, text } = place;
  await drives.require(drive);
  if (literal === undefined) throw new CommandError(`No file matches ${text}`);
  if (prefix === "") return `There are no files in the drive ${drive}`;
  if (await drives.hasFolder(drive, prefix)) return `There are no files in ${drive}:${prefix}`;
  const [what, name] = prefix.endsWith("/")
    ? ["is no folder", text]
    : ["are no files with the prefix", `${drive}:${prefix}`];
  throw new CommandError(`There ${what} ${name}`);
}

/** Parses `DRIVE[:PREFIX]`, where the prefix may have wildcards; a whole drive needs no colon. */
function parsePlace(word: string, drive: string | undefined): Selection {
  const at = drive === undefined ? word.indexOf(":") : -1;
  const [name, prefix] = drive !== undefined
    ? [drive, word]
    : at === -1
    ? [word, ""]
    : [word.slice(0, at), word.slice(at + 1)];
  requireDriveName(name);
  return { drive: name, glob: new Glob(prefix), text: word };
}

/** Lists the names with a prefix, or those that match a pattern: also folders, if it has no `**`. */
async function* matchesOf(
  drives: RemoteDrives,
  { drive, glob }: Selection,
  isRecursive: boolean,
): AsyncGenerator<Entry> {
  const isDeep = isRecursive || (glob.literal === undefined && !glob.isFlat);
  for await (const entry of drives.entries(drive, glob.prefix, isDeep)) {
    if (glob.literal !== undefined || glob.matches(entry.name.replace(/\/$/, ""))) yield entry;
  }
}

async function listDrives(call: CommandCall): Promise<void> {
  using session = await Session.open(call);
  for await (const { name, files, bytes } of session.drives.listDrives()) {
    const count = files === null ? "" : `${plural(files, "file")}  `;
    const line = `${sizeColumn(bytes ?? undefined)}  ${count}${name}`;
    session.print({ drive: name, files, bytes }, line);
  }
}

/** Tells which sizes are searched: `+1MB` larger ones, `-1MB` smaller ones, `1MB` exactly these. */
const SIZES: ValueType<(size: number) => boolean> = {
  parse(text) {
    const bytes = parseByteSize(text.replace(/^[+-]/, ""), 0);
    if (bytes === undefined) return undefined;
    if (text.startsWith("+")) return (size) => size > bytes;
    return text.startsWith("-") ? (size) => size < bytes : (size) => size === bytes;
  },
  expected: "a size like 1MB, with + for larger and - for smaller files",
};

/** The longest age to search for, in milliseconds: a hundred years. */
const MAX_AGE = 36_525 * DAY;

const AGE: ValueType<number> = {
  parse: (text) => parseDuration(text, MAX_AGE),
  expected: "a time like 30m, 24h or 7d",
};

/** `kvdrive find`: prints the files of a drive that have some properties, as operands of other commands. */
export async function findFiles(call: CommandCall): Promise<void> {
  const place = parsePlace(call.operand(0), call.get("drive"));
  const isWanted = wantedBy(call);
  using session = await Session.open(call);
  const { drives } = session;
  const found = filesIn(drives, place, isWanted);
  const { drive } = place;
  let count = 0;
  for await (const file of call.has("digest") ? withDigests(drives, drive, found) : found) {
    count++;
    session.print({ drive, ...jsonOf(file) }, `${drive}:${escapeGlob(file.name)}`);
  }
  if (count === 0) await drives.require(drive);
}

async function* filesIn(
  drives: RemoteDrives,
  { drive, glob }: Selection,
  isWanted: (file: FileInfo) => boolean,
): AsyncGenerator<FileInfo> {
  for await (const file of drives.listFiles(drive, glob.prefix)) {
    const isInside = glob.literal !== undefined || glob.matches(file.name);
    if (isInside && isWanted(file)) yield file;
  }
}

/** Returns the condition of `--name`, `--size` and `--newer`. */
function wantedBy(call: CommandCall): (file: FileInfo) => boolean {
  const conditions: ((file: FileInfo) => boolean)[] = [];
  const name = call.get("name");
  if (name !== undefined) {
    // As with --exclude, a pattern without a slash is about the last segment.
    const glob = new Glob(name.includes("/") ? name : `**/${name}`);
    conditions.push((file) => glob.matches(file.name));
  }
  const size = call.get("size");
  if (size !== undefined) {
    const isOfSize = parseValue({ text: size, source: "--size" }, SIZES);
    conditions.push((file) => isOfSize(file.size));
  }
  const newer = call.get("newer");
  if (newer !== undefined) {
    const from = Date.now() - parseValue({ text: newer, source: "--newer" }, AGE);
    conditions.push((file) => copyTime(file) > from);
  }
  return (file) => conditions.every((holds) => holds(file));
}

interface Usage {
  files: number;
  bytes: number;
}

/** `kvdrive du`: the bytes in each folder of a drive, and in all of it. */
export async function showUsage(call: CommandCall): Promise<void> {
  const [word] = call.operands;
  if (word === undefined && call.get("drive") === undefined) return await listDrives(call);
  const place = parsePlace(word ?? "", call.get("drive"));
  const { drive, glob } = place;
  if (glob.literal === undefined) throw new UsageError("Give a folder, without wildcards");
  using session = await Session.open(call);
  const { drives } = session;
  const prefix = glob.literal;
  const total = { files: 0, bytes: 0 };
  let folder: Usage & { name: string } | undefined;
  const print = ({ files, bytes, name }: Usage & { name: string }) => {
    const line = `${sizeColumn(bytes)}  ${plural(files, "file")}  ${drive}:${name}`;
    session.print({ drive, name, files, bytes }, line);
  };
  for await (const { name, size } of drives.listFiles(drive, prefix)) {
    count(total, size);
    const slash = name.indexOf("/", prefix.length);
    const own = slash === -1 ? undefined : name.slice(0, slash + 1);
    // Listings are in order, so the files of a folder follow each other.
    if (folder !== undefined && folder.name !== own) print(folder);
    if (own === undefined) folder = undefined;
    else if (folder?.name === own) count(folder, size);
    else folder = { name: own, files: 1, bytes: size };
  }
  if (total.files === 0) await emptyNotice(drives, place);
  if (folder !== undefined) print(folder);
  print({ ...total, name: prefix });
}

function count(usage: Usage, size: number): void {
  usage.files++;
  usage.bytes += size;
}

/** `kvdrive stat`: the metadata of files. */
export async function showFiles(call: CommandCall): Promise<void> {
  const selections = call.operands.map((word) => parseSelection(word, call.get("drive")));
  const isFolder = ({ glob: { literal } }: Selection) =>
    literal !== undefined && /(^|\/)$/.test(literal);
  if (selections.some(isFolder)) {
    throw new UsageError("A folder has no metadata: give a file as DRIVE:NAME");
  }
  using session = await Session.open(call);
  const { drives } = session;
  let printed = 0;
  for (const selection of selections) {
    const source = await RemoteSource.require(drives, selection);
    if (source.folder !== undefined) {
      throw new CommandError(`${source.drive}:${source.folder} is a folder, which has no metadata`);
    }
    for await (const file of filesOf(drives, source)) {
      const facts = { drive: source.drive, ...jsonOf(file) };
      if (call.has("json")) session.print(facts);
      else {
        if (printed++ > 0) session.print({}, "");
        for (const [fact, value] of Object.entries(facts)) {
          session.print({}, `${`${fact}:`.padEnd(14)}${value}`);
        }
      }
    }
  }
}

/** Lists the selected files with their digests. */
async function* filesOf(drives: RemoteDrives, source: RemoteSource): AsyncGenerator<FileInfo> {
  if (source.single !== undefined) return yield source.single;
  async function* files(): AsyncGenerator<FileInfo> {
    for await (const entry of source.entries(new NameFilter({}))) {
      if (entry.kind === "file") yield entry.file;
    }
  }
  yield* withDigests(drives, source.drive, files());
}

/** Columns of a time in ISO 8601. */
const TIME_WIDTH = 20;

/** Characters of a SHA-256 in hexadecimal digits. */
const DIGEST_WIDTH = 64;

/** Files whose digests are asked for at once. */
const LOOKUPS = 16;

/** Returns a line of a listing: size, time of the last modification, and name. */
function lineOf(entry: Entry, name: string, hasDigests: boolean): string {
  if (entry.size === undefined) {
    const width = TIME_WIDTH + (hasDigests ? 2 + DIGEST_WIDTH : 0);
    return `${sizeColumn()}  ${" ".repeat(width)}  ${name}`;
  }
  const time = new Date(copyTime(entry)).toISOString().replace(/\.\d+Z$/, "Z");
  const digest = hasDigests ? `  ${(hexOf(entry) ?? "-").padEnd(DIGEST_WIDTH)}` : "";
  return `${sizeColumn(entry.size)}  ${time}${digest}  ${name}`;
}

/** Returns a column of sizes: of 7 characters on a terminal, of 15 for exact bytes. */
function sizeColumn(bytes?: number): string {
  const text = bytes === undefined ? "" : sizeText(bytes);
  return text.padStart(Deno.stdout.isTerminal() ? 7 : 15);
}

/** Returns what is printed of a file or folder as JSON. */
function jsonOf(entry: Entry): Record<string, unknown> {
  if (entry.size === undefined) return { name: entry.name };
  const { name, size, type, etag, modified, mtime } = entry;
  const sha256 = hexOf(entry);
  return {
    name,
    size,
    content_type: type,
    etag,
    modified: new Date(modified).toISOString(),
    ...(mtime === undefined ? {} : { mtime: new Date(mtime).toISOString() }),
    ...(sha256 === undefined ? {} : { sha256 }),
  };
}

/** Returns the SHA-256 of a file in hexadecimal digits, as `sha256sum` prints it. */
function hexOf({ sha256 }: FileInfo): string | undefined {
  return sha256 === undefined ? undefined : encodeHex(decodeBase64(sha256));
}

/** Adds the digests to files, which listings of the server do not have. A file that was deleted meanwhile has none. */
async function* withDigests<T extends Entry>(
  drives: RemoteDrives,
  drive: string,
  entries: AsyncIterable<T>,
): AsyncGenerator<T> {
  const waiting: Promise<T>[] = [];
  for await (const entry of entries) {
    waiting.push(withDigest(drives, drive, entry));
    const first = waiting.length < LOOKUPS ? undefined : waiting.shift();
    if (first !== undefined) yield await first;
  }
  for (const one of waiting) yield await one;
}

async function withDigest<T extends Entry>(
  drives: RemoteDrives,
  drive: string,
  entry: T,
): Promise<T> {
  if (entry.size === undefined) return entry;
  const { etag, sha256 } = await drives.stat(drive, entry.name) ?? {};
  return etag === entry.etag && sha256 !== undefined ? { ...entry, sha256 } : entry;
}

/** Changes that one request asks for. */
const PAGE = 1000;

/** `kvdrive changes`: what happened in a drive, and with `--follow` what happens. */
export async function showChanges(call: CommandCall): Promise<void> {
  const drive = call.required("DRIVE");
  requireDriveName(drive);
  const follows = call.has("follow");
  using session = await Session.open(call);
  const read = async (options: ChangePageOptions) =>
    await session.drives.drive(drive).changePage(options).catch((error) => {
      const isOff = error instanceof KvdriveError && error.code === "changes_off";
      if (!isOff) throw error;
      throw new CommandError(
        `The project keeps no changes: the administrator turns that on with kvdrive project change ${session.connection.project} --change-days 7`,
      );
    });
  const since = call.get("since") ?? "0";
  let last = since === "now" ? (await read({})).last : since;
  while (true) {
    const page = await read({ since: last, limit: PAGE, wait: follows ? CHANGE_WAIT : undefined });
    for (const change of page.changes) session.print(change, changeLine(change));
    last = page.last;
    if (!follows && !page.more) break;
  }
  if (!call.has("json")) session.view.printNotice(`Later changes: --since ${last}`);
}

function changeLine({ at, type, name, from, size }: Change): string {
  const moved = from === undefined ? "" : `${from} -> `;
  const bytes = size === undefined ? "" : `  ${formatBytes(size)}`;
  return `${at}  ${type.padEnd("delete".length)}  ${moved}${name}${bytes}`;
}
