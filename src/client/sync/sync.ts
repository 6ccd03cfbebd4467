import { ClientError } from "../errors.ts";
import { batchesOf } from "./relocation.ts";
import {
  forEachConcurrent,
  type OnBytes,
  type Outcome,
  type TransferReport,
} from "../transfers.ts";
import { NameSpool } from "./name_spool.ts";
import { compareTrees, type FileEntry, type FolderEntry, type Step, type Tree } from "./tree.ts";

/** Names that are deleted together. */
const DELETE_BATCH = 500;

/** The two sides of a synchronisation, and how one becomes like the other. */
export interface SyncSides {
  /** Lists the tree. It is read a second time if something was in the way. */
  source(): Tree;
  target(): Tree;
  /** What is reported of the sides: the drive, and what precedes the names in it. */
  place: { drive: string; prefix: string };
  /** Reports whether files of the same size have the same time, without reading them; `undefined` if that is not known. */
  hasSameTime(source: FileEntry, target: FileEntry): boolean | undefined;
  /**
   * Reports whether files of the same size have the same bytes, if that can be found out without transferring them;
   * `undefined` if not.
   */
  hasSameBytes(source: FileEntry, target: FileEntry): Promise<boolean | undefined>;
  /** Gives a file of the target the time of that of the source. Returns whether that is possible. */
  setTime?(source: FileEntry, target: FileEntry): Promise<void>;
  /**
   * Transfers a file.
   *
   * @returns Its bytes; `undefined` if the source does not have it any more.
   * @throws {Blocked} if something else is in its place.
   */
  send(
    source: FileEntry,
    target: FileEntry | undefined,
    onBytes: OnBytes,
  ): Promise<number | undefined>;
  /** Creates a folder that may be empty. @throws {Blocked} if something else is in its place. */
  makeFolder(name: string): Promise<void>;
  /** Deletes files, and folders if they are empty, of the target. Returns why some could not be deleted. */
  remove(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Removes what earlier calls left behind in the target. */
  cleanUp?(): Promise<void>;
}

export interface SyncOptions {
  /** Whether files of the target that the source does not have are deleted. */
  deletes: boolean;
  /** Whether they are deleted even if the source has no files at all. */
  allowsEmpty: boolean;
  /** Whether the bytes of files of the same size are compared in place of their times. */
  comparesBytes: boolean;
  /** Whether it is only reported what would be done. */
  isDryRun: boolean;
  /** Files in transfer at once. */
  concurrency: number;
  /** Receives what was done, or would be. */
  onChange?: (change: Change) => void;
}

export interface Change {
  kind: "sent" | "deleted" | "created";
  /** With the prefix of its place; that of a folder ends with a slash. */
  name: string;
  /** Bytes, of a file that was sent. */
  size?: number;
}

/** Something else is at the place of a file or folder. It may be gone after deletions. */
export class Blocked extends ClientError {
  override readonly name = "Blocked";
}

/** What a synchronisation did besides what its report counts. */
export interface SyncResult {
  deleted: number;
  /** Why nothing was deleted although something was extra. */
  kept?: string;
}

/**
 * Makes the target like the source. Nothing is deleted before all else has succeeded: not if the source could not be read
 * completely, or if a file could not be transferred.
 */
export async function synchronize(
  sides: SyncSides,
  report: TransferReport,
  options: SyncOptions,
): Promise<SyncResult> {
  using extra = new NameSpool();
  using blocked = new NameSpool();
  return await new Sync(sides, report, options, extra, blocked).run();
}

class Sync {
  /** Files of the source that pass the filters. */
  #files = 0;
  #deleted = 0;

  constructor(
    private readonly sides: SyncSides,
    private readonly report: TransferReport,
    private readonly options: SyncOptions,
    private readonly extra: NameSpool,
    private readonly blocked: NameSpool,
  ) {}

  async run(): Promise<SyncResult> {
    const { concurrency } = this.options;
    await forEachConcurrent(this.#steps(), concurrency, (step) => this.#apply(step));
    const kept = this.#reasonToKeep();
    if (this.report.failed.length === 0 && !this.options.isDryRun) await this.sides.cleanUp?.();
    if (kept === undefined) await this.#deleteExtra();
    await this.#unblock();
    return { deleted: this.#deleted, ...(kept === undefined ? {} : { kept }) };
  }

  /** Returns the steps that take time; the others are done at once. */
  async *#steps(): AsyncGenerator<Step> {
    for await (const step of compareTrees(this.sides.source(), this.sides.target())) {
      if (step.kind === "problem") this.#note(step);
      else if (step.kind === "extra") await this.#addExtra(step.target.name);
      else {
        if (step.source.kind === "file") this.#files++;
        if (this.#isNeeded(step)) yield step;
      }
    }
  }

  #note({ side, problem }: Step & { kind: "problem" }): void {
    const { name, reason, effect } = problem;
    if (effect === "unreadable") this.#fail(name, reason);
    else if (side === "source") {
      this.#count(name, { kind: effect === "ignored" ? "skipped" : "left out", reason });
    }
  }

  async #addExtra(name: string): Promise<void> {
    if (this.options.deletes) await this.extra.add(name);
  }

  /** Reports whether there may be something to do. */
  #isNeeded(step: Step): boolean {
    if (step.kind === "new") return step.source.kind === "file" || step.source.isEmpty;
    if (step.kind !== "same name") return false;
    const { source, target } = step;
    if (source.kind !== "file" || target.kind !== "file") return false;
    const isSame = !this.options.comparesBytes && source.size === target.size &&
      this.sides.hasSameTime(source, target) === true;
    if (isSame) this.#count(source.name, { kind: "unchanged", bytes: source.size });
    return !isSame;
  }

  /** Transfers what may be new. What is blocked is tried again if something is to be deleted. */
  async #apply(step: Step): Promise<void> {
    if (step.kind !== "new" && step.kind !== "same name") return;
    const { source } = step;
    const target = step.kind === "same name" && step.target.kind === "file"
      ? step.target
      : undefined;
    await this.report.attempt(this.#drive, this.#shown(source.name), async (onBytes) => {
      try {
        return await this.#transfer(source, target, onBytes);
      } catch (error) {
        if (!(error instanceof Blocked) || !this.options.deletes) throw error;
        await this.blocked.add(source.name);
        return undefined;
      }
    });
  }

  async #transfer(
    source: FileEntry | FolderEntry,
    target: FileEntry | undefined,
    onBytes: OnBytes,
  ): Promise<Outcome> {
    if (source.kind === "folder") return await this.#makeFolder(source.name);
    if (target !== undefined && await this.#isSame(source, target)) {
      return { kind: "unchanged", bytes: source.size };
    }
    return await this.#send(source, target, onBytes);
  }

  /** Reports whether files of the same name are the same, after looking at their bytes. */
  async #isSame(source: FileEntry, target: FileEntry): Promise<boolean> {
    const { comparesBytes, isDryRun } = this.options;
    if (source.size !== target.size) return false;
    const { setTime } = this.sides;
    const hasSameTime = this.sides.hasSameTime(source, target);
    if (!comparesBytes && setTime === undefined && hasSameTime !== undefined) return false;
    const isSame = await this.sides.hasSameBytes(source, target) ?? hasSameTime ?? false;
    if (!isSame) return false;
    if (!comparesBytes && !isDryRun) await setTime?.call(this.sides, source, target);
    return true;
  }

  async #send(
    source: FileEntry,
    target: FileEntry | undefined,
    onBytes: OnBytes,
  ): Promise<Outcome> {
    const size = this.options.isDryRun
      ? source.size
      : await this.sides.send(source, target, onBytes);
    if (size === undefined) return { kind: "skipped", reason: "it was deleted meanwhile" };
    this.options.onChange?.({ kind: "sent", name: this.#shown(source.name), size });
    return { kind: "transferred", bytes: size };
  }

  async #makeFolder(name: string): Promise<Outcome> {
    if (!this.options.isDryRun) await this.sides.makeFolder(name);
    this.options.onChange?.({ kind: "created", name: this.#shown(name) });
    return { kind: "folder" };
  }

  #reasonToKeep(): string | undefined {
    if (this.extra.count === 0) return undefined;
    if (this.report.failed.length > 0) {
      return "Nothing was deleted, as not everything could be read and transferred: see above";
    }
    if (this.#files > 0 || this.options.allowsEmpty) return undefined;
    return "Nothing was deleted, as the source has no files: --yes deletes all files of the target";
  }

  async #deleteExtra(): Promise<void> {
    for await (const names of batchesOf(this.extra.names(), DELETE_BATCH)) {
      const failed = this.options.isDryRun
        ? new Map<string, string>()
        : await this.sides.remove(names);
      for (const name of names) {
        const reason = failed.get(name);
        if (reason !== undefined) {
          this.#fail(name, reason);
          continue;
        }
        if (!name.endsWith("/")) this.#deleted++;
        this.options.onChange?.({ kind: "deleted", name: this.#shown(name) });
      }
    }
  }

  /** Transfers what was blocked by something that has been deleted since. */
  async #unblock(): Promise<void> {
    if (this.blocked.count === 0) return;
    const names = new Set<string>();
    for await (const name of this.blocked.names()) names.add(name);
    for await (const entry of this.sides.source()) {
      if (entry.kind === "problem" || !names.has(entry.name)) continue;
      await this.report.attempt(
        this.#drive,
        this.#shown(entry.name),
        (onBytes) => this.#transfer(entry, undefined, onBytes),
      );
    }
  }

  #count(name: string, outcome: Outcome): void {
    this.report.count(this.#drive, this.#shown(name), outcome);
  }

  #fail(name: string, error: unknown): void {
    this.report.fail(this.#drive, this.#shown(name), error);
  }

  get #drive(): string {
    return this.sides.place.drive;
  }

  #shown(name: string): string {
    return this.sides.place.prefix + name;
  }
}
