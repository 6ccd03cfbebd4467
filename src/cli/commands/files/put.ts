import { basename, resolve } from "@std/path";
import { walk } from "../../../client/archive/folder.ts";
import { fileError, isFatal } from "../../../client/errors.ts";
import { fileSource, pipeSource, type Source } from "../../../client/local_files.ts";
import type { RemoteDrives } from "../../../client/remote_drives.ts";
import { forEachConcurrent, TransferReport, TRANSFERS } from "../../../client/transfers.ts";
import { upload } from "../../../client/upload.ts";
import type { UploadStates } from "../../../client/upload_states.ts";
import { Semaphore } from "../../../rules/concurrency.ts";
import { contentTypeOf, contentTypeProblem } from "../../../rules/content_type.ts";
import { fileNameProblem } from "../../../rules/names.ts";
import { formatBytes } from "../../../rules/units.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { TransferProgress } from "../../terminal/task_progress.ts";
import { plural } from "../../terminal/text.ts";
import type { ClientCall } from "../client_call.ts";
import { type DrivePath, isFolder, parseDrivePath } from "../drive_path.ts";

/** The operand that stands for standard input. */
const PIPE = "-";

/** A file to send, or the reason why it is not sent. */
interface Candidate {
  /** The local path. */
  path: string;
  name: string;
  problem?: string;
  /** Whether the problem counts as a failure; else the file is skipped. */
  hasFailed?: true;
}

export async function putFiles(call: ClientCall): Promise<void> {
  const sources = call.operands.slice(0, -1);
  const target = parseDrivePath(call.operands.at(-1) ?? "", call.get("drive"));
  checkTarget(sources, target);
  const problem = contentTypeProblem(call.get("type") ?? "");
  if (problem !== undefined) throw new UsageError(`The content type of --type ${problem}`);
  using view = new TransferProgress(call.env);
  const { connection, drives } = await call.connect(view);
  using _connection = connection;
  const report = new TransferReport(view.events);
  if (view.bar.isDrawn && !sources.includes(PIPE)) view.setTotal(await sizeOf(sources, target));
  const run = new PutRun(call, view, report, drives, await call.states());
  await forEachConcurrent(
    candidates(sources, target),
    TRANSFERS,
    (one) => run.put(target.drive, one),
  );
  view.bar.clear();
  if (!call.has("json")) {
    call.print(view, {}, `Sent ${plural(report.done, "file")} (${formatBytes(report.bytes)})`);
  }
  if (report.failed.length > 0) {
    throw new CommandError(`Cannot send ${plural(report.failed.length, "file")}: see above`);
  }
}

/** @throws {UsageError} if several files would get one name, or standard input none. */
function checkTarget(sources: readonly string[], target: DrivePath): void {
  if (isFolder(target)) {
    if (!sources.includes(PIPE)) return;
    throw new UsageError("Standard input needs a file name: end the command with DRIVE:NAME");
  }
  if (sources.length === 1) return;
  throw new UsageError(
    "Several sources need a folder as the target: end the command with DRIVE:FOLDER/ or DRIVE:",
  );
}

/** One run of the command. */
class PutRun {
  readonly #call: ClientCall;
  readonly #view: TransferProgress;
  readonly #report: TransferReport;
  readonly #drives: RemoteDrives;
  readonly #states: UploadStates;
  readonly #slots = new Semaphore(TRANSFERS);

  constructor(
    call: ClientCall,
    view: TransferProgress,
    report: TransferReport,
    drives: RemoteDrives,
    states: UploadStates,
  ) {
    this.#call = call;
    this.#view = view;
    this.#report = report;
    this.#drives = drives;
    this.#states = states;
  }

  async put(drive: string, { path, name, problem, hasFailed }: Candidate): Promise<void> {
    this.#report.begin(drive, name);
    let counted = 0;
    try {
      const reason = problem ?? badName(name);
      if (reason !== undefined && !hasFailed) return this.#skip(drive, name, reason);
      if (reason !== undefined) return this.#fail(drive, name, reason);
      const source: Source = path === PIPE
        ? pipeSource(Deno.stdin.readable)
        : await fileSource(path);
      if (path === PIPE) this.#view.setTotal(undefined);
      const { size, resumed } = await upload({ drives: this.#drives, drive, name }, source, {
        type: this.#call.get("type") ?? contentTypeOf(name),
        mtime: source.modified,
        isNew: this.#call.has("new"),
        slots: this.#slots,
        states: this.#states,
        onBytes: (count) => {
          counted += count;
          this.#report.progress(count);
        },
      });
      this.#report.add(size);
      if (this.#call.has("json")) {
        this.#call.print(this.#view, { source: path, drive, name, size, resumed });
      }
    } catch (error) {
      if (isFatal(error)) throw error;
      this.#report.progress(-counted);
      this.#fail(drive, name, error);
    }
  }

  #skip(drive: string, name: string, reason: string): void {
    this.#report.skip(drive, name, reason);
    if (this.#call.has("json")) this.#call.print(this.#view, { drive, name, skipped: reason });
  }

  #fail(drive: string, name: string, error: unknown): void {
    this.#report.fail(drive, name, error);
    const failed = error instanceof Error ? error.message : String(error);
    if (this.#call.has("json")) this.#call.print(this.#view, { drive, name, failed });
  }
}

function badName(name: string): string | undefined {
  const problem = fileNameProblem(name);
  return problem && `The file name ${problem}`;
}

/** Lists the files with their names in the drive. A folder keeps its name, unless its path ends with "/" or ".". */
async function* candidates(
  sources: readonly string[],
  target: DrivePath,
): AsyncIterable<Candidate> {
  for (const path of sources) {
    if (path === PIPE) {
      yield { path, name: target.name };
      continue;
    }
    const own = basename(resolve(path));
    const kind = await kindOf(path);
    if (typeof kind === "object") {
      yield { path, name: isFolder(target) ? target.name + own : target.name, ...kind };
    } else if (kind === "file") {
      yield { path, name: isFolder(target) ? target.name + own : target.name };
    } else if (!isFolder(target)) {
      throw new UsageError(
        "A folder needs a folder as the target: end the command with DRIVE:FOLDER/ or DRIVE:",
      );
    } else {
      const prefix = /(^|[\\/])\.?$/.test(path) ? target.name : `${target.name}${own}/`;
      yield* filesBelow(path, prefix);
    }
  }
}

async function* filesBelow(folder: string, prefix: string): AsyncIterable<Candidate> {
  for await (const found of walk(folder, "")) {
    if ("isEmpty" in found) continue;
    yield { ...found, path: `${folder}/${found.path}`, name: prefix + found.path };
  }
}

async function kindOf(
  path: string,
): Promise<"file" | "folder" | { problem: string; hasFailed: true }> {
  try {
    const { isDirectory } = await Deno.stat(path);
    return isDirectory ? "folder" : "file";
  } catch (error) {
    return { problem: fileError("read", path, error).message, hasFailed: true };
  }
}

/** Returns the bytes of all files. */
async function sizeOf(sources: readonly string[], target: DrivePath): Promise<number> {
  let bytes = 0;
  for await (const { path, problem } of candidates(sources, target)) {
    if (problem === undefined) bytes += (await Deno.stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
