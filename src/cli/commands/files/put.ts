import { dirname } from "@std/path/dirname";
import { join } from "@std/path/join";
import { ClientError, fileExists, hasStatus } from "../../../client/errors.ts";
import { fileSource, type Source } from "../../../client/local_files.ts";
import { forEachConcurrent, type OnBytes, type Outcome } from "../../../client/transfers.ts";
import { upload, type UploadStates } from "../../../client/upload.ts";
import { Semaphore } from "../../../rules/concurrency.ts";
import { contentTypeOf, contentTypeProblem } from "../../../rules/content_type.ts";
import { formatBytes } from "../../../rules/units.ts";
import { UsageError } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { openStates, TransferSession } from "../session.ts";
import { type DrivePath, isFolder, parseTarget } from "../drive_path.ts";
import {
  type Candidate,
  isPipe,
  localCandidates,
  namesContents,
  openPipe,
} from "./local_source.ts";

/** What happens to a file that has the name of one that is transferred. */
export type Existing = "replace" | "fail" | "skip";

export interface SendJob {
  sources: readonly string[];
  target: DrivePath;
  existing: Existing;
  /** Whether files are deleted here once they are in the drive. */
  isMove: boolean;
}

export async function putFiles(call: CommandCall): Promise<void> {
  await sendFiles(call, {
    sources: call.operands.slice(0, -1),
    target: parseTarget(call.operands.at(-1) ?? "", call.get("drive")),
    existing: call.has("new") ? "fail" : "replace",
    isMove: false,
  });
}

/** Sends files and folders of this machine, or standard input, to a drive. */
export async function sendFiles(call: CommandCall, job: SendJob): Promise<void> {
  const hasPipe = (await Promise.all(job.sources.map(isPipe))).includes(true);
  checkJob(job, hasPipe);
  const problem = contentTypeProblem(call.get("type") ?? "");
  if (problem !== undefined) throw new UsageError(`The content type of --type ${problem}`);
  using transfer = await TransferSession.open(call);
  const { sources, target, isMove } = job;
  const { view, report, filter, concurrency } = transfer;
  if (view.bar.isDrawn && !hasPipe) {
    view.setTotal(await sizeOf(localCandidates(sources, target, filter)));
  }
  const run = new SendRun(transfer, job, await openStates(call.env));
  const candidates = localCandidates(sources, target, filter);
  await forEachConcurrent(candidates, concurrency, (one) => run.send(one));
  if (isMove && !transfer.isDryRun) await run.removeFolders();
  const [done, planned, verb] = isMove
    ? ["Moved", "Would move", "move"]
    : ["Sent", "Would send", "send"];
  const count = `${plural(report.done, "file")} (${formatBytes(report.bytes)})`;
  transfer.printSummary(`${transfer.isDryRun ? planned : done} ${count}`);
  transfer.requireSuccess(verb);
}

/** @throws {UsageError} if several files would get one name, or a pipe none. */
function checkJob({ sources, target, isMove }: SendJob, hasPipe: boolean): void {
  if (hasPipe && isMove) throw new UsageError("A pipe cannot be moved: use put or cp");
  if (isFolder(target)) {
    if (!hasPipe) return;
    throw new UsageError("A pipe needs a file name: end the command with DRIVE:NAME");
  }
  if (sources.length === 1) return;
  throw new UsageError(
    "Several sources need a folder as the target: end the command with DRIVE:FOLDER/ or DRIVE:",
  );
}

class SendRun {
  readonly #slots: Semaphore;
  /** Folders whose files were moved away. */
  readonly #folders = new Set<string>();

  constructor(
    private readonly transfer: TransferSession,
    private readonly job: SendJob,
    private readonly states: UploadStates,
  ) {
    this.#slots = new Semaphore(transfer.concurrency);
  }

  async send(candidate: Candidate): Promise<void> {
    const { name, problem, hasFailed = false } = candidate;
    const { drive } = this.job.target;
    const { report } = this.transfer;
    await report.attempt(drive, name, async (onBytes) => {
      if (problem !== undefined && !hasFailed) return { kind: "left out", reason: problem };
      if (problem !== undefined) throw new ClientError(problem);
      if (candidate.kind === "folder") return await this.#makeFolder(candidate);
      try {
        return { kind: "transferred", bytes: await this.#sendFile(candidate, onBytes) };
      } catch (error) {
        if (!(hasStatus(error, 412) && this.job.existing === "skip")) throw error;
        return { kind: "skipped", reason: "it exists" };
      }
    });
  }

  /** Removes the folders that moving has left empty. */
  async removeFolders(): Promise<void> {
    const deepestFirst = [...this.#folders].sort((a, b) => b.length - a.length);
    for (const folder of deepestFirst) {
      // One with files that were not moved stays.
      await Deno.remove(folder).catch(() => {});
    }
  }

  /** Returns the bytes of the file; 0 if that is not known, in a dry run. */
  async #sendFile(candidate: Candidate, onBytes: OnBytes): Promise<number> {
    const { path, name } = candidate;
    const { call, drives, isDryRun } = this.transfer;
    const { target: { drive }, existing, isMove } = this.job;
    const isFromPipe = candidate.kind === "pipe";
    if (isDryRun) {
      const size = isFromPipe ? undefined : fileSource(path).size;
      return await this.#plan(path, name, size);
    }
    const source = isFromPipe ? await openPipe(path) : fileSource(path);
    const { size, resumed } = await upload({ drives, drive, name }, source, {
      type: call.get("type") ?? contentTypeOf(name),
      mtime: source.modified,
      isNew: existing !== "replace",
      slots: this.#slots,
      states: this.states,
      onBytes,
    });
    if (isMove) await this.#removeSource(candidate, source);
    this.transfer.print({ source: path, drive, name, size, resumed });
    return size;
  }

  async #plan(path: string, name: string, size: number | undefined): Promise<number> {
    const { drives } = this.transfer;
    const { target: { drive }, existing } = this.job;
    if (existing !== "replace" && await drives.stat(drive, name) !== undefined) {
      throw fileExists();
    }
    const bytes = size === undefined ? "" : ` (${formatBytes(size)})`;
    const json = { source: path, drive, name, ...(size === undefined ? {} : { size }) };
    this.transfer.printFile(json, `Would send ${path} to ${drive}:${name}${bytes}`);
    return size ?? 0;
  }

  async #makeFolder(candidate: Candidate): Promise<Outcome> {
    const { path, name } = candidate;
    const { drives, isDryRun } = this.transfer;
    const { target: { drive }, isMove } = this.job;
    if (!isDryRun) await drives.createFolder(drive, name);
    if (isMove) this.#addFoldersOf({ ...candidate, path: join(path, "-") });
    if (isDryRun) this.transfer.printFile({ drive, name }, `Would create ${drive}:${name}`);
    return { kind: "folder" };
  }

  /** Deletes a file that is in the drive now. One that has changed since stays. */
  async #removeSource(candidate: Candidate, source: Source): Promise<void> {
    const { path } = candidate;
    source.verify();
    try {
      await Deno.remove(path);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new ClientError(`It is in the drive, but cannot be deleted here: ${reason}`);
    }
    this.#addFoldersOf(candidate);
  }

  /** Remembers the folders of a file that was moved, up to the one that was given, which stays if it has a slash. */
  #addFoldersOf({ path, root }: Candidate): void {
    if (root === undefined) return;
    // Without a slash at its end.
    const top = dirname(join(root, "-"));
    for (let folder = dirname(path); folder !== top; folder = dirname(folder)) {
      this.#folders.add(folder);
    }
    if (!namesContents(root)) this.#folders.add(top);
  }
}

async function sizeOf(candidates: AsyncIterable<Candidate>): Promise<number> {
  let bytes = 0;
  for await (const { kind, path, problem } of candidates) {
    if (kind === "folder" || problem !== undefined) continue;
    bytes += (await Deno.stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}
