import type { NamePair } from "../../../client/api/types.ts";
import { ClientError, hasStatus } from "../../../client/errors.ts";
import type { FileInfo } from "../../../client/drives.ts";
import {
  relocate,
  relocateAll,
  type Relocated,
  type Relocation,
} from "../../../client/sync/relocation.ts";
import { formatBytes } from "../../../rules/units.ts";
import { UsageError } from "../../terminal/output.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { type DrivePath, isFolder, isRemote, parseSelection, parseTarget } from "../drive_path.ts";
import { fetchFiles } from "./get.ts";
import { sendFiles } from "./put.ts";
import { RemoteSource } from "./remote_source.ts";
import { TransferSession } from "../session.ts";

export async function copyFiles(call: CommandCall): Promise<void> {
  await transfer(call, "copy");
}

export async function moveFiles(call: CommandCall): Promise<void> {
  await transfer(call, "move");
}

async function transfer(call: CommandCall, kind: "copy" | "move"): Promise<void> {
  const sources = call.operands.slice(0, -1);
  const target = call.operands.at(-1) ?? "";
  const isFromDrive = isRemote(sources[0] ?? "");
  if (sources.some((source) => isRemote(source) !== isFromDrive)) {
    throw new UsageError("All sources must be in drives (DRIVE:NAME), or none");
  }
  const existing = call.has("no-clobber") ? "skip" : "replace";
  const isMove = kind === "move";
  if (!isFromDrive && !isRemote(target)) {
    throw new UsageError(
      "Source and target are both on this machine: write one of them as DRIVE:NAME",
    );
  }
  if (!isFromDrive) {
    const place = parseTarget(target, undefined);
    return await sendFiles(call, { sources, target: place, existing, isMove });
  }
  const selections = sources.map((source) => parseSelection(source, undefined));
  if (!isRemote(target)) {
    return await fetchFiles(call, { sources: selections, path: target, existing, isMove });
  }
  const place = parseTarget(target, undefined);
  using opened = await TransferSession.open(call);
  const run = new CopyRun(opened, kind, place);
  for (const selection of selections) {
    run.add(await RemoteSource.require(opened.drives, selection));
  }
  await run.run();
}

/** A file, and the name that it gets. */
interface Planned extends NamePair {
  file: FileInfo;
}

/** Copies or moves files between drives: the server does it, and no bytes are sent. */
class CopyRun {
  readonly #sources: RemoteSource[] = [];
  /** The names that were given, of several sources: two of one name would replace each other. */
  readonly #given = new Set<string>();

  constructor(
    private readonly transfer: TransferSession,
    private readonly kind: "copy" | "move",
    private readonly target: DrivePath,
  ) {}

  /** @throws {ClientError} if a folder would be copied into itself. */
  add(source: RemoteSource): void {
    const { drive, name } = this.target;
    const { folder } = source;
    if (folder !== undefined && source.drive === drive && name.startsWith(folder)) {
      throw new ClientError(`Cannot ${this.kind} ${drive}:${folder} into itself`);
    }
    this.#sources.push(source);
  }

  async run(): Promise<void> {
    const [first] = this.#sources;
    const isSingle = this.#sources.length === 1 && first?.single !== undefined;
    if (!isSingle && !isFolder(this.target)) {
      throw new UsageError(
        "Several files need a folder as the target: end the command with DRIVE:FOLDER/ or DRIVE:",
      );
    }
    for (const source of this.#sources) await this.#runOne(source, isSingle);
    const { report, isDryRun } = this.transfer;
    const verb = isDryRun ? `Would ${this.kind}` : this.kind === "copy" ? "Copied" : "Moved";
    const count = `${plural(report.done, "file")} (${formatBytes(report.bytes)})`;
    this.transfer.printSummary(`${verb} ${count}`);
    this.transfer.requireSuccess(this.kind);
  }

  async #runOne(source: RemoteSource, isSingle: boolean): Promise<void> {
    const { drives, isDryRun, report } = this.transfer;
    const relocation: Relocation = {
      kind: this.kind,
      drive: source.drive,
      toDrive: this.target.drive,
      overwrite: !this.transfer.call.has("no-clobber"),
    };
    const folders: NamePair[] = [];
    let planned: AsyncIterable<Planned> = this.#plan(source, folders);
    // A new name may be one that would be listed later.
    if (this.#overlaps(source)) planned = fromArray(await Array.fromAsync(planned));
    if (isDryRun) { for await (const one of planned) this.#done(source, one); }
    else if (isSingle) await this.#single(source, relocation, planned);
    else {
      for await (const one of relocateAll(drives, relocation, planned)) {
        await this.#finish(source, one);
      }
    }
    for (const { from, to } of folders) {
      report.count(source.drive, from, { kind: "folder" });
      if (isDryRun) continue;
      await drives.createFolder(this.target.drive, to);
      if (this.kind === "move") await drives.deleteFolder(source.drive, from);
    }
    const isMoved = this.kind === "move" && source.folder && !isDryRun;
    if (isMoved && report.failed.length === 0) {
      await drives.deleteFolder(source.drive, source.folder ?? "");
    }
  }

  async *#plan(source: RemoteSource, folders: NamePair[]): AsyncGenerator<Planned> {
    const { name: target } = this.target;
    for await (const entry of source.entries(this.transfer.filter)) {
      if (entry.kind === "folder") {
        const to = target + entry.below;
        if (to !== "") folders.push({ from: entry.name, to });
        continue;
      }
      const { file } = entry;
      const to = isFolder(this.target) ? target + entry.below : target;
      if (this.#given.has(to)) {
        this.transfer.report.fail(source.drive, file.name, `Another source becomes ${to}`);
        continue;
      }
      if (this.#sources.length > 1) this.#given.add(to);
      yield { from: file.name, to, file };
    }
  }

  async #single(
    source: RemoteSource,
    relocation: Relocation,
    planned: AsyncIterable<Planned>,
  ): Promise<void> {
    for await (const one of planned) {
      try {
        const isThere = await relocate(this.transfer.drives, relocation, one);
        const error = isThere ? {} : { error: `There is no file ${source.drive}:${one.from}` };
        await this.#finish(source, { ...one, ...error });
      } catch (error) {
        if (!hasStatus(error, 412)) throw error;
        this.#skip(one.to);
      }
    }
  }

  /** Reports what became of a file. */
  async #finish(source: RemoteSource, planned: Relocated<Planned>): Promise<void> {
    const { error, from, to, file } = planned;
    if (error === undefined) return this.#done(source, planned);
    const { call, drives, report } = this.transfer;
    const isMove = this.kind === "move";
    const skipsTaken = call.has("no-clobber");
    const present = isMove || skipsTaken ? await drives.stat(this.target.drive, to) : undefined;
    // A move whose answer was lost may have been done: a file that is moved keeps its version.
    if (isMove && present?.etag === file.etag) this.#done(source, planned);
    else if (skipsTaken && present !== undefined) this.#skip(to);
    else report.fail(source.drive, from, error);
  }

  #skip(to: string): void {
    const outcome = { kind: "skipped", reason: "it exists" } as const;
    this.transfer.report.count(this.target.drive, to, outcome);
  }

  #done({ drive }: RemoteSource, { from, to, file }: Planned): void {
    this.transfer.report.count(drive, from, { kind: "transferred", bytes: file.size });
    const json = { drive, name: from, to_drive: this.target.drive, to, size: file.size };
    const line = `Would ${this.kind} ${drive}:${from} to ${this.target.drive}:${to}`;
    this.transfer.printFile(json, line);
  }

  #overlaps({ drive, prefix }: RemoteSource): boolean {
    const { drive: toDrive, name } = this.target;
    return drive === toDrive && (name.startsWith(prefix) || prefix.startsWith(name));
  }
}

async function* fromArray<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
