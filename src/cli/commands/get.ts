import { basename, dirname, join } from "@std/path";
import { copyVersion, download, MAX_READ_TRIES, writeAll } from "../../client/download.ts";
import { type FileInfo, sha256OfStream } from "../../client/drives.ts";
import { ClientError, FileChanged, fileError, isFatal } from "../../client/errors.ts";
import { isSameTime, readFile } from "../../client/local_files.ts";
import { type FileSystem, LocalPaths, safeSegment } from "../../client/local_paths.ts";
import type { RemoteDrives } from "../../client/remote_drives.ts";
import { forEachConcurrent, TransferReport, TRANSFERS } from "../../client/transfers.ts";
import { CommandError, UsageError } from "../terminal/errors.ts";
import { outputFailure } from "../terminal/output.ts";
import { TransferProgress } from "../terminal/task_progress.ts";
import { formatBytes, plural } from "../terminal/text.ts";
import { type ClientCall, type DrivePath, isFolder, parseDrivePath } from "./client_command.ts";

/** Standard output. */
const PIPE = "-";

/** What the file system of this machine takes. */
export const FILE_SYSTEM: FileSystem = Deno.build.os === "windows" ? "windows" : "posix";

/** Fetches a file, or all files of a folder of a drive. */
export async function getFiles(call: ClientCall): Promise<void> {
  const place = parseDrivePath(call.operand(0), call.get("drive"));
  const path = call.operands[1];
  if (path === PIPE && isFolder(place)) {
    throw new UsageError("Standard output takes one file: name it as DRIVE:NAME");
  }
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const getting = new GetRun(call, view, drives, place.drive);
  if (isFolder(place)) await getting.folder(place, path ?? ".");
  else if (path === PIPE) await getting.toPipe(place.name);
  else await getting.file(place.name, await targetOf(place.name, path));
}

/** Where a single file goes: into a folder under its own name, or where it is said. */
async function targetOf(name: string, path: string | undefined): Promise<string> {
  const own = safeSegment(name.slice(name.lastIndexOf("/") + 1), FILE_SYSTEM);
  if (path === undefined) return own;
  const isDirectory = (await statOrUndefined(path))?.isDirectory ?? /[\\/]$/.test(path);
  return isDirectory ? join(path, own) : path;
}

class GetRun {
  readonly #call: ClientCall;
  readonly #view: TransferProgress;
  readonly #drives: RemoteDrives;
  readonly #drive: string;
  readonly #report: TransferReport;

  constructor(call: ClientCall, view: TransferProgress, drives: RemoteDrives, drive: string) {
    this.#call = call;
    this.#view = view;
    this.#drives = drives;
    this.#drive = drive;
    this.#report = new TransferReport(view.events);
  }

  async file(name: string, target: string): Promise<void> {
    const file = await this.#demand(name);
    this.#view.expect(file.size);
    this.#report.begin(this.#drive, name);
    const done = await this.#fetch(file, target);
    this.#tell(file, target, done);
    this.#view.bar.clear();
    const what = done === "same" ? "is there already" : `(${formatBytes(file.size)})`;
    if (!this.#call.has("json")) this.#call.print(this.#view, {}, `${target} ${what}`);
  }

  async folder({ drive, name: prefix }: DrivePath, folder: string): Promise<void> {
    if (this.#view.bar.isDrawn) this.#view.expect(await this.#sizeOf(prefix));
    const plan = new LocalPaths(FILE_SYSTEM);
    await forEachConcurrent(this.#drives.listFiles(drive, prefix), TRANSFERS, async (file) => {
      const own = file.name.slice(prefix.length);
      const path = plan.pathFor(own);
      if (path !== own) {
        this.#view.say(`${drive}:${file.name} is written as ${path}, as names of files go here`);
      }
      await this.#fetchOneOf(file, join(folder, path));
    });
    this.#view.bar.clear();
    const { done, bytes, unchanged, failed } = this.#report;
    if (done + unchanged + failed.length === 0) {
      throw new CommandError(`There is no file in ${drive}:${prefix}`);
    }
    if (!this.#call.has("json")) {
      const there = unchanged === 0 ? "" : `; ${plural(unchanged, "file")} were there already`;
      const line = `Fetched ${plural(done, "file")} (${formatBytes(bytes)})${there}`;
      this.#call.print(this.#view, {}, line);
    }
    if (failed.length > 0) {
      throw new CommandError(`${plural(failed.length, "file")} could not be fetched`);
    }
  }

  async toPipe(name: string): Promise<void> {
    const file = await this.#demand(name);
    this.#view.expect(file.size);
    this.#report.begin(this.#drive, name);
    await copyVersion({ side: this.#drives, drive: this.#drive, file }, 0, async (bytes) => {
      await writeOut(bytes);
      this.#report.progress(bytes.byteLength);
    });
  }

  async #fetchOneOf(file: FileInfo, target: string): Promise<void> {
    this.#report.begin(this.#drive, file.name);
    try {
      await Deno.mkdir(dirname(target), { recursive: true }).catch((error) => {
        throw fileError("make the folder of", target, error);
      });
      const done = await this.#fetch(file, target);
      if (done === "same") this.#report.same(0);
      else this.#report.add(file.size);
      this.#tell(file, target, done);
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#report.fail(this.#drive, file.name, error);
      const failed = error instanceof Error ? error.message : String(error);
      if (this.#call.has("json")) {
        this.#call.print(this.#view, { drive: this.#drive, name: file.name, failed });
      }
    }
  }

  /** Fetches the version that is there, or a later one. */
  async #fetch(file: FileInfo, target: string): Promise<"new" | "same"> {
    const source = { side: this.#drives, drive: this.#drive, file };
    for (let tries = 1;; tries++) {
      if (await this.#isThere(source.file, target)) {
        this.#report.progress(source.file.size);
        return "same";
      }
      let counted = 0;
      try {
        await download(source, target, {
          onBytes: (count) => {
            counted += count;
            this.#report.progress(count);
          },
        });
        return "new";
      } catch (error) {
        this.#report.progress(-counted);
        if (!(error instanceof FileChanged) || tries >= MAX_READ_TRIES) throw error;
        source.file = await this.#demand(file.name);
      }
    }
  }

  /** Whether the file is there. @throws {ClientError} where another one is, and is not to be replaced. */
  async #isThere(file: FileInfo, target: string): Promise<boolean> {
    const there = await statOrUndefined(target);
    if (there === undefined) return false;
    if (there.isFile && await isSame(file, target, there)) return true;
    if (there.isFile && this.#call.has("force")) return false;
    const advice = there.isFile ? "--force replaces it" : "name another place";
    throw new ClientError(`There is another ${basename(target)} already: ${advice}`);
  }

  #tell(file: FileInfo, path: string, done: "new" | "same"): void {
    if (!this.#call.has("json")) return;
    const { name, size, type, etag } = file;
    const drive = this.#drive;
    const unchanged = done === "same" ? { unchanged: true } : {};
    const answer = { drive, name, path, size, content_type: type, etag, ...unchanged };
    this.#call.print(this.#view, answer);
  }

  async #demand(name: string): Promise<FileInfo> {
    const file = await this.#drives.stat(this.#drive, name);
    if (file !== undefined) return file;
    throw new ClientError(`There is no file ${this.#drive}:${name}`);
  }

  async #sizeOf(prefix: string): Promise<number> {
    let bytes = 0;
    for await (const { size } of this.#drives.listFiles(this.#drive, prefix)) bytes += size;
    return bytes;
  }
}

/** Of some files the server has told the digest; of the others size and time have to do. */
async function isSame(file: FileInfo, target: string, there: Deno.FileInfo): Promise<boolean> {
  if (there.size !== file.size) return false;
  if (file.sha256 !== undefined) return await sha256OfStream(readFile(target)) === file.sha256;
  return isSameTime(there.mtime?.getTime() ?? 0, file.modified);
}

async function statOrUndefined(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return undefined;
    }
    throw fileError("look at", path, error);
  }
}

async function writeOut(bytes: Uint8Array): Promise<void> {
  try {
    await writeAll(Deno.stdout, bytes);
  } catch (error) {
    throw outputFailure(error);
  }
}
