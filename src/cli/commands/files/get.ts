import { basename } from "@std/path/basename";
import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { copyVersion, download } from "../../../client/download.ts";
import { copyTime, type FileInfo, sha256OfStream } from "../../../client/drives.ts";
import { ClientError, fileChanged, fileError } from "../../../client/errors.ts";
import { isSameTime, readFile, statIfExists } from "../../../client/local_files.ts";
import {
  forEachConcurrent,
  type OnBytes,
  type Outcome,
  withVersion,
} from "../../../client/transfers.ts";
import { LOCAL_FILE_SYSTEM, LocalPaths, safeSegment } from "../../../rules/archive/local_paths.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, UsageError, writeOut } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { isFolder, parseSelection, type Selection } from "../drive_path.ts";
import { PIPE } from "./local_source.ts";
import type { Existing } from "./put.ts";
import { RemoteSource } from "./remote_source.ts";
import { Session, TransferSession } from "../session.ts";
import { type ByteRange, parseRange } from "../../../rules/byte_range.ts";
import { NameFilter } from "../../../rules/globs.ts";

export interface FetchJob {
  sources: readonly Selection[];
  /** A file or a folder of this machine; this folder unless given. */
  path: string | undefined;
  existing: Existing;
  /** Whether files are deleted from the drive once they are here. */
  isMove: boolean;
}

/** What is at the path of a file that is fetched, and what follows of it. */
type Found = "new" | "same" | "skipped";

export async function getFiles(call: CommandCall): Promise<void> {
  await fetchFiles(call, {
    sources: [parseSelection(call.operand(0), call.get("drive"))],
    path: call.operands[1],
    existing: call.has("force") ? "replace" : "fail",
    isMove: false,
  });
}

export async function fetchFiles(call: CommandCall, job: FetchJob): Promise<void> {
  const { sources: selections, path } = job;
  if (path === PIPE && (selections.length > 1 || !selections.every(isFileName) || job.isMove)) {
    throw new UsageError("Only a single file can be written to standard output: give DRIVE:NAME");
  }
  using transfer = await TransferSession.open(call);
  const sources: RemoteSource[] = [];
  for (const selection of selections) {
    sources.push(await RemoteSource.require(transfer.drives, selection));
  }
  const run = new GetRun(transfer, job);
  const [first] = sources;
  const file = sources.length === 1 ? first?.single : undefined;
  if (first === undefined || file === undefined) return await run.folder(sources, path ?? ".");
  if (path === PIPE) await run.toPipe(first.drive, file);
  else await run.file(first.drive, file, await targetOf(file.name, path));
}

function isFileName({ glob: { literal } }: Selection): boolean {
  return literal !== undefined && !isFolder({ drive: "", name: literal });
}

/** Returns the path for a single file: its name in a folder, or the path that was given. */
async function targetOf(name: string, path: string | undefined): Promise<string> {
  const own = safeSegment(name.slice(name.lastIndexOf("/") + 1), LOCAL_FILE_SYSTEM);
  if (path === undefined) return own;
  const isDirectory = (await statIfExists(path))?.isDirectory ?? /[\\/]$/.test(path);
  return isDirectory ? join(path, own) : path;
}

class GetRun {
  constructor(
    private readonly transfer: TransferSession,
    private readonly job: FetchJob,
  ) {}

  async file(drive: string, file: FileInfo, target: string): Promise<void> {
    const { view, report, isDryRun } = this.transfer;
    view.setTotal(file.size);
    report.begin(drive, file.name);
    await makeFolder(dirname(target), isDryRun);
    const done = await this.#fetch(drive, file, target, (count) => report.progress(count));
    this.#print(drive, file, target, done);
    report.count(drive, file.name, outcomeOf(done, file, target));
    if (done === "skipped") return;
    const what = done === "same" ? "is up to date" : `(${formatBytes(file.size)})`;
    if (!isDryRun || done === "same") this.transfer.printSummary(`${target} ${what}`);
  }

  async folder(sources: readonly RemoteSource[], folder: string): Promise<void> {
    const { view, report, filter, isDryRun, concurrency } = this.transfer;
    if ((await statIfExists(folder))?.isFile) {
      throw new UsageError(`Several files need a folder as the target, and ${folder} is a file`);
    }
    if (view.bar.isDrawn) view.setTotal(await this.#sizeOf(sources));
    const paths = new LocalPaths(LOCAL_FILE_SYSTEM);
    for (const source of sources) {
      const { drive } = source;
      await forEachConcurrent(source.entries(filter), concurrency, async (entry) => {
        if (entry.kind === "folder") {
          await makeFolder(join(folder, paths.folderFor(entry.below)), isDryRun);
          return report.count(drive, entry.name, { kind: "folder" });
        }
        const path = paths.pathFor(entry.below);
        if (path !== entry.below) {
          view.printNotice(
            `${drive}:${entry.file.name} is written to ${path}, as its name is not possible here`,
          );
        }
        await this.#fetchOneOf(drive, entry.file, join(folder, path));
      });
      if (this.job.isMove && !isDryRun) await this.#removeFolders(source);
    }
    this.#printCount();
    this.transfer.requireSuccess(this.job.isMove ? "move" : "fetch");
  }

  async toPipe(drive: string, file: FileInfo): Promise<void> {
    const { view, report, drives } = this.transfer;
    view.setTotal(file.size);
    report.begin(drive, file.name);
    await copyVersion({ drives, drive, file }, 0, async (bytes) => {
      await writeOut(bytes);
      report.progress(bytes.byteLength);
    });
  }

  #printCount(): void {
    const { report, isDryRun } = this.transfer;
    const [done, planned] = this.job.isMove ? ["Moved", "Would move"] : ["Fetched", "Would fetch"];
    const { unchanged } = report;
    const there = unchanged === 0 ? "" : `; ${plural(unchanged, "file")} up to date`;
    const count = `${plural(report.done, "file")} (${formatBytes(report.bytes)})`;
    this.transfer.printSummary(`${isDryRun ? planned : done} ${count}${there}`);
  }

  async #fetchOneOf(drive: string, file: FileInfo, target: string): Promise<void> {
    const { report, isDryRun } = this.transfer;
    await report.attempt(drive, file.name, async (onBytes) => {
      await makeFolder(dirname(target), isDryRun);
      const done = await this.#fetch(drive, file, target, onBytes);
      this.#print(drive, file, target, done);
      return outcomeOf(done, file, target);
    });
  }

  /** Fetches the listed version, or a later one, and deletes it in the drive if it is moved. */
  async #fetch(
    drive: string,
    file: FileInfo,
    target: string,
    onBytes: OnBytes,
  ): Promise<Found> {
    const { drives, isDryRun } = this.transfer;
    const source = { drives, drive, file };
    const done = await withVersion(source, onBytes, async (file, onBytes) => {
      const state = await this.#stateOf(file, target);
      if (state === "skipped" || isDryRun) return state;
      if (state === "new") await download({ ...source, file }, target, { onBytes });
      if (this.job.isMove) await this.#removeSource(drive, file);
      return state;
    });
    if (done !== undefined) return done;
    throw new ClientError(`There is no file ${drive}:${file.name}`);
  }

  /** Returns what is to be done with a file. @throws {ClientError} if another file must not be replaced. */
  async #stateOf(file: FileInfo, target: string): Promise<Found> {
    const existing = await statIfExists(target);
    if (existing === undefined) return "new";
    if (existing.isFile && await isSame(file, target, existing)) return "same";
    if (existing.isFile && this.job.existing === "replace") return "new";
    if (existing.isFile && this.job.existing === "skip") return "skipped";
    const [what, advice] = existing.isFile
      ? ["Another file", "--force replaces it"]
      : ["A folder", "give another path"];
    throw new ClientError(`${what} ${basename(target)} exists: ${advice}`);
  }

  /** Deletes a file that is here now. @throws {KvdriveError} if it was replaced in the drive meanwhile. */
  async #removeSource(drive: string, { name, etag }: FileInfo): Promise<void> {
    const { drives } = this.transfer;
    const there = await drives.stat(drive, name);
    if (there === undefined) return;
    if (there.etag !== etag) throw fileChanged("The file was replaced during the download");
    const failed = await drives.remove(drive, [name]);
    if (failed.length > 0) throw new ClientError("It is here, but the server could not delete it");
  }

  /** Stops keeping the folders from which all files were moved. */
  async #removeFolders({ drive, folder }: RemoteSource): Promise<void> {
    const { drives, report } = this.transfer;
    if (folder === undefined || report.failed.length + report.skipped.length > 0) return;
    for await (const name of drives.listFolders(drive, folder)) {
      await drives.deleteFolder(drive, name);
    }
  }

  #print(drive: string, file: FileInfo, path: string, done: Found): void {
    if (done === "skipped") return;
    const { name, size, type, etag } = file;
    const unchanged = done === "same" ? { unchanged: true } : {};
    const json = { drive, name, path, size, content_type: type, etag, ...unchanged };
    const line = `Would fetch ${drive}:${name} to ${path} (${formatBytes(size)})`;
    this.transfer.printFile(json, done === "same" ? undefined : line);
  }

  async #sizeOf(sources: readonly RemoteSource[]): Promise<number> {
    let bytes = 0;
    for (const source of sources) {
      for await (const entry of source.entries(this.transfer.filter)) {
        if (entry.kind === "file") bytes += entry.file.size;
      }
    }
    return bytes;
  }
}

function outcomeOf(found: Found, { size: bytes }: FileInfo, target: string): Outcome {
  if (found === "skipped") return { kind: "skipped", reason: `${target} exists` };
  return { kind: found === "same" ? "unchanged" : "transferred", bytes };
}

async function makeFolder(path: string, isDryRun: boolean): Promise<void> {
  if (isDryRun) return;
  await Deno.mkdir(path, { recursive: true }).catch((error) => {
    throw fileError("create the folder", path, error);
  });
}

/** Compares by the SHA-256 if the server knows it, else by size and modification time. */
async function isSame(file: FileInfo, target: string, there: Deno.FileInfo): Promise<boolean> {
  if (there.size !== file.size) return false;
  if (file.sha256 !== undefined) return await sha256OfStream(readFile(target)) === file.sha256;
  return isSameTime(there.mtime?.getTime() ?? 0, copyTime(file));
}

/** `kvdrive cat`: writes files, or a range of their bytes, to standard output. */
export async function printFiles(call: CommandCall): Promise<void> {
  const range = call.get("range");
  // Whether the file has such bytes is seen later.
  if (range !== undefined && parseRange(`bytes=${range}`, Number.MAX_SAFE_INTEGER) === undefined) {
    throw new UsageError(
      `Bad value "${range}" of --range: it must be FIRST-LAST, FIRST- or -COUNT, in bytes from 0`,
    );
  }
  const selections = call.operands.map((word) => parseSelection(word, call.get("drive")));
  using session = await Session.open(call);
  const { drives } = session;
  for (const selection of selections) {
    const source = await RemoteSource.require(drives, selection);
    const { drive, folder } = source;
    if (folder !== undefined) throw new CommandError(`${drive}:${folder} is a folder: use get`);
    for await (const entry of source.entries(new NameFilter({}))) {
      if (entry.kind !== "file") continue;
      const { file } = entry;
      const { start, end } = rangeOf(range, drive, file);
      if (start === end) continue;
      await copyVersion({ drives, drive, file, end }, start, writeOut);
    }
  }
}

/** @throws {CommandError} if the file has none of the bytes. */
function rangeOf(text: string | undefined, drive: string, { name, size }: FileInfo): ByteRange {
  const range = text === undefined ? undefined : parseRange(`bytes=${text}`, size);
  if (range !== "unsatisfiable") return range ?? { start: 0, end: size };
  throw new CommandError(`${drive}:${name} has ${size} bytes, none of which are in ${text}`);
}
