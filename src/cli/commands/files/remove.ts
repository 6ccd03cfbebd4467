import { formatBytes } from "../../../rules/units.ts";
import { CommandError, UsageError } from "../../terminal/output.ts";
import { confirm, requireTerminal } from "../../terminal/prompt.ts";
import { plural } from "../../terminal/text.ts";
import type { CommandCall } from "../command_call.ts";
import { isFolder, parseSelection, type Selection } from "../drive_path.ts";
import { RemoteSource } from "./remote_source.ts";
import { TransferSession } from "../session.ts";

/** What is to be deleted, by drive. */
interface Doomed {
  /** The sizes of files by their names. */
  files: Map<string, number>;
  folders: Set<string>;
}

export async function removeFiles(call: CommandCall): Promise<void> {
  const selections = call.operands.map((word) => parseSelection(word, call.get("drive")));
  const isRecursive = call.has("recursive");
  if (selections.some(isWholeFolder) && !isRecursive) {
    throw new UsageError("Deleting a folder or a whole drive needs --recursive");
  }
  const isAsked = !call.has("yes") && !call.has("dry-run");
  if (isAsked) requireTerminal(`${call.args.usage} --yes`);
  using transfer = await TransferSession.open(call);
  const run = new RemoveRun(transfer);
  for (const selection of selections) await run.find(selection, isRecursive);
  run.reportMissing();
  if (isAsked) run.confirm();
  await run.remove();
}

function isWholeFolder({ glob: { literal } }: Selection): boolean {
  return literal !== undefined && isFolder({ drive: "", name: literal });
}

class RemoveRun {
  readonly #doomed = new Map<string, Doomed>();
  /** What is said of operands that select nothing. */
  readonly #missing: string[] = [];
  #failures = 0;

  constructor(
    private readonly transfer: TransferSession,
  ) {}

  /** Lists what an operand selects. If that is nothing, the others are deleted all the same. */
  async find(selection: Selection, isRecursive: boolean): Promise<void> {
    const { drives, filter } = this.transfer;
    const source = await RemoteSource.find(drives, selection);
    if (source === undefined) {
      this.#missing.push(`There is no file ${selection.drive}:${selection.glob.literal}`);
      return;
    }
    const { drive, folder } = source;
    if (folder !== undefined && !isRecursive) {
      throw new CommandError(`${drive}:${folder} is a folder: --recursive deletes all in it`);
    }
    const doomed = this.#doomed.get(drive) ?? { files: new Map(), folders: new Set() };
    this.#doomed.set(drive, doomed);
    const missing = await source.findAll(filter, (entry) => {
      if (entry.kind === "folder") doomed.folders.add(entry.name);
      else doomed.files.set(entry.file.name, entry.file.size);
    });
    if (missing !== undefined) this.#missing.push(missing);
  }

  /** Reports operands that select nothing. @throws {CommandError} if none selects anything. */
  reportMissing(): void {
    const [only, ...others] = this.#missing;
    const isEmpty = [...this.#doomed.values()].every(({ files, folders }) =>
      files.size + folders.size === 0
    );
    if (only !== undefined && others.length === 0 && isEmpty) throw new CommandError(only);
    for (const sentence of this.#missing) this.transfer.view.printNotice(sentence);
  }

  confirm(): void {
    const sizes = [...this.#doomed.values()].flatMap(({ files }) => [...files.values()]);
    const folders = [...this.#doomed.values()].reduce((sum, one) => sum + one.folders.size, 0);
    if (sizes.length + folders === 0) return;
    const bytes = formatBytes(sizes.reduce((sum, size) => sum + size, 0));
    const [[drive, { files }] = ["", { files: new Map<string, number>() }]] = this.#doomed;
    const [name] = files.keys();
    const what = sizes.length === 1 && folders === 0 && name !== undefined
      ? `${drive}:${name}`
      : sizes.length === 0
      ? plural(folders, "empty folder")
      : plural(sizes.length, "file");
    confirm(`Delete ${what} (${bytes})?`);
  }

  /** @throws {CommandError} if something could not be deleted. */
  async remove(): Promise<void> {
    let count = 0;
    for (const [drive, { files, folders }] of this.#doomed) {
      const failed = await this.#removeAll(drive, [...files.keys()], [...folders]);
      this.#failures += failed;
      count += files.size - failed + (files.size === 0 ? folders.size : 0);
    }
    const { isDryRun } = this.transfer;
    const verb = isDryRun ? "Would delete" : "Deleted";
    this.transfer.printSummary(`${verb} ${plural(count, "file")}`);
    const failures = this.#failures + this.#missing.length;
    if (failures === 0) return;
    throw new CommandError(`Cannot delete ${plural(failures, "file")}: see above`);
  }

  async #removeAll(
    drive: string,
    names: readonly string[],
    folders: readonly string[],
  ): Promise<number> {
    const { view, drives, isDryRun } = this.transfer;
    const failed = new Set(isDryRun ? [] : await drives.remove(drive, [...names, ...folders]));
    for (const name of names) {
      if (failed.has(name)) view.printNotice(`The server could not delete ${drive}:${name}`);
      else {
        this.transfer.printFile(
          { drive, name, deleted: !isDryRun },
          `Would delete ${drive}:${name}`,
        );
      }
    }
    return failed.size;
  }
}
