import { basename, dirname, join } from "@std/path";
import { copyVersion, download, MAX_READ_TRIES } from "../../../client/download.ts";
import { copyTime, type FileInfo, sha256OfStream } from "../../../client/drives.ts";
import { ClientError, FileChanged, fileError, isFatal } from "../../../client/errors.ts";
import { isSameTime, readFile, statIfExists, writeAll } from "../../../client/local_files.ts";
import { LOCAL_FILE_SYSTEM, LocalPaths, safeSegment } from "../../../rules/archive/local_paths.ts";
import type { RemoteDrives } from "../../../client/remote_drives.ts";
import { forEachConcurrent, TransferReport, TRANSFERS } from "../../../client/transfers.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, outputFailure, UsageError } from "../../terminal/output.ts";
import { TransferProgress } from "../../terminal/task_progress.ts";
import { plural } from "../../terminal/text.ts";
import type { ClientCall } from "../client_call.ts";
import { type DrivePath, isFolder, parseDrivePath } from "../drive_path.ts";

/** The operand that stands for standard output. */
const PIPE = "-";

export async function getFiles(call: ClientCall): Promise<void> {
  const place = parseDrivePath(call.operand(0), call.get("drive"));
  const path = call.operands[1];
  if (path === PIPE && isFolder(place)) {
    throw new UsageError("Only a single file can be written to standard output: give DRIVE:NAME");
  }
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const run = new GetRun(call, view, drives, place.drive);
  if (isFolder(place)) await run.folder(place, path ?? ".");
  else if (path === PIPE) await run.toPipe(place.name);
  else await run.file(place.name, await targetOf(place.name, path));
}

/** Returns the path for a single file: its name in a folder, or the path that was given. */
async function targetOf(name: string, path: string | undefined): Promise<string> {
  const own = safeSegment(name.slice(name.lastIndexOf("/") + 1), LOCAL_FILE_SYSTEM);
  if (path === undefined) return own;
  const isDirectory = (await statIfExists(path))?.isDirectory ?? /[\\/]$/.test(path);
  return isDirectory ? join(path, own) : path;
}

/** One run of the command. */
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
    const file = await this.#stat(name);
    this.#view.setTotal(file.size);
    this.#report.begin(this.#drive, name);
    const done = await this.#fetch(file, target);
    this.#print(file, target, done);
    this.#view.bar.clear();
    const what = done === "same" ? "is up to date" : `(${formatBytes(file.size)})`;
    if (!this.#call.has("json")) this.#call.print(this.#view, {}, `${target} ${what}`);
  }

  async folder({ drive, name: prefix }: DrivePath, folder: string): Promise<void> {
    if (this.#view.bar.isDrawn) this.#view.setTotal(await this.#sizeOf(prefix));
    const paths = new LocalPaths(LOCAL_FILE_SYSTEM);
    await forEachConcurrent(this.#drives.listFiles(drive, prefix), TRANSFERS, async (file) => {
      const own = file.name.slice(prefix.length);
      const path = paths.pathFor(own);
      if (path !== own) {
        this.#view.printNotice(
          `${drive}:${file.name} is written to ${path}, as its name is not possible here`,
        );
      }
      await this.#fetchOneOf(file, join(folder, path));
    });
    this.#view.bar.clear();
    const { done, bytes, unchanged, failed } = this.#report;
    if (done + unchanged + failed.length === 0) {
      throw new CommandError(`There are no files in ${drive}:${prefix}`);
    }
    if (!this.#call.has("json")) {
      const there = unchanged === 0 ? "" : `; ${plural(unchanged, "file")} up to date`;
      const line = `Fetched ${plural(done, "file")} (${formatBytes(bytes)})${there}`;
      this.#call.print(this.#view, {}, line);
    }
    if (failed.length > 0) {
      throw new CommandError(`Cannot fetch ${plural(failed.length, "file")}: see above`);
    }
  }

  async toPipe(name: string): Promise<void> {
    const file = await this.#stat(name);
    this.#view.setTotal(file.size);
    this.#report.begin(this.#drive, name);
    await copyVersion({ drives: this.#drives, drive: this.#drive, file }, 0, async (bytes) => {
      await writeOut(bytes);
      this.#report.progress(bytes.byteLength);
    });
  }

  async #fetchOneOf(file: FileInfo, target: string): Promise<void> {
    this.#report.begin(this.#drive, file.name);
    try {
      await Deno.mkdir(dirname(target), { recursive: true }).catch((error) => {
        throw fileError("create the folder of", target, error);
      });
      const done = await this.#fetch(file, target);
      if (done === "same") this.#report.same(0);
      else this.#report.add(file.size);
      this.#print(file, target, done);
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#report.fail(this.#drive, file.name, error);
      const failed = error instanceof Error ? error.message : String(error);
      if (this.#call.has("json")) {
        this.#call.print(this.#view, { drive: this.#drive, name: file.name, failed });
      }
    }
  }

  /** Fetches the listed version, or a later one. */
  async #fetch(file: FileInfo, target: string): Promise<"new" | "same"> {
    const source = { drives: this.#drives, drive: this.#drive, file };
    for (let tries = 1;; tries++) {
      if (await this.#isUpToDate(source.file, target)) {
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
        source.file = await this.#stat(file.name);
      }
    }
  }

  /** Reports whether the file is up to date. @throws {ClientError} if another file must not be replaced. */
  async #isUpToDate(file: FileInfo, target: string): Promise<boolean> {
    const existing = await statIfExists(target);
    if (existing === undefined) return false;
    if (existing.isFile && await isSame(file, target, existing)) return true;
    if (existing.isFile && this.#call.has("force")) return false;
    const [what, advice] = existing.isFile
      ? ["Another file", "--force replaces it"]
      : ["A folder", "give another path"];
    throw new ClientError(`${what} ${basename(target)} exists: ${advice}`);
  }

  #print(file: FileInfo, path: string, done: "new" | "same"): void {
    if (!this.#call.has("json")) return;
    const { name, size, type, etag } = file;
    const drive = this.#drive;
    const unchanged = done === "same" ? { unchanged: true } : {};
    const answer = { drive, name, path, size, content_type: type, etag, ...unchanged };
    this.#call.print(this.#view, answer);
  }

  async #stat(name: string): Promise<FileInfo> {
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

/** Compares by the SHA-256 if the server knows it, else by size and modification time. */
async function isSame(file: FileInfo, target: string, there: Deno.FileInfo): Promise<boolean> {
  if (there.size !== file.size) return false;
  if (file.sha256 !== undefined) return await sha256OfStream(readFile(target)) === file.sha256;
  return isSameTime(there.mtime?.getTime() ?? 0, copyTime(file));
}

async function writeOut(bytes: Uint8Array): Promise<void> {
  try {
    await writeAll(Deno.stdout, bytes);
  } catch (error) {
    throw outputFailure(error);
  }
}
