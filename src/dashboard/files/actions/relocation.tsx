import { type ErrorCode, wordsOf } from "../../core/api_error.ts";
import { inParallel } from "../../core/concurrency.ts";
import type { App } from "../../core/context.ts";
import { plural } from "../../core/format.ts";
import { links } from "../../core/links.ts";
import { type Entry, folderOf, labelOf, type Place } from "../entry.ts";
import { askAboutConflicts, type ConflictChoice } from "./conflict_dialog.tsx";
import {
  type Change,
  DriveFiles,
  type FolderChange,
  type Outcome,
  type Renaming,
} from "./drive_files.ts";
import { describe } from "./naming.ts";

/** The code of a target that exists. */
const TAKEN: ErrorCode = "file_exists";

export interface Move {
  entry: Entry;
  to: string;
}

interface Transferred {
  done: readonly Renaming[];
  failed: Outcome["failed"];
  replaced: Replaced;
}

/** What became of files, and of folders that exist by themselves, whose names end with a slash. */
interface Sent {
  done: readonly Renaming[];
  /** Those whose target exists. */
  refused: readonly Renaming[];
  failed: Outcome["failed"];
  since: number;
}

interface Relocated extends Transferred {
  moves: readonly Move[];
  /** Folders that were there before. */
  kept: readonly string[];
  drive: string;
}

/** The files that were replaced, and a time shortly before, in milliseconds of the server's clock. */
interface Replaced {
  names: readonly string[];
  since: number;
}

interface Options {
  isCopy: boolean;
  onChange: (change: FolderChange) => void;
}

/** Moves or copies entries, asks once about targets that exist, and offers to undo a move. */
export class Relocation {
  readonly #files: DriveFiles;

  constructor(
    private readonly app: App,
    private readonly place: Place,
    private readonly options: Options,
  ) {
    this.#files = new DriveFiles(app.api, place);
  }

  /** @throws {ApiError} If the server cannot be asked. */
  async run(moves: readonly Move[], drive: string): Promise<void> {
    const { isCopy, onChange } = this.options;
    const target = new DriveFiles(this.app.api, { ...this.place, drive });
    const kept = isCopy ? [] : await foldersThere(moves, target);
    const transferred = await this.#transfer(moves, target);
    const { done, failed } = transferred;
    const isWhole = failed.length === 0;
    const gone = isWhole ? moves.map(({ entry }) => entry.name) : done.map(({ from }) => from);
    const renamed = isWhole && !isCopy ? renamingIn(moves) : undefined;
    const removed = isCopy ? [] : gone;
    const added = { drive, names: moves.map(({ to }) => to) };
    onChange({ removed, hasNew: true, added, ...(renamed === undefined ? {} : { renamed }) });
    this.#report({ ...transferred, moves, kept, drive });
  }

  /** Sends what has no conflict, then what the user decided about the rest. */
  async #transfer(moves: readonly Move[], target: DriveFiles): Promise<Transferred> {
    const first = await this.#sendAll(moves, target);
    const { done } = first;
    const failed = first.failed.filter(({ code }) => code !== TAKEN);
    const conflicts = first.refused;
    const choices = await askAboutConflicts(this.app, conflicts.map(({ to }) => to));
    const chosen = (wanted: ConflictChoice) =>
      conflicts.filter((_, index) => choices[index] === wanted);
    const replacing = await this.#send(chosen("replace"), target, true);
    const numbered = await this.#send(await renumbered(chosen("both"), target), target, false);
    return {
      done: [...done, ...replacing.done, ...numbered.done],
      failed: [...failed, ...replacing.failed, ...numbered.failed],
      replaced: { names: replacing.done.map(({ to }) => to), since: replacing.since },
    };
  }

  /** Sends files and all that is in folders; what has the name of another file is refused. */
  async #sendAll(moves: readonly Move[], target: DriveFiles): Promise<Sent> {
    const renamings = moves.map(({ entry, to }) => ({ from: entry.name, to }));
    const sent = [await this.#send(renamings.filter(({ from }) => !isFolder(from)), target, false)];
    const options = { isCopy: this.options.isCopy, to: target.drive };
    for (const renaming of renamings.filter(({ from }) => isFolder(from))) {
      const outcome = await this.#files.transferFolder(renaming, options);
      sent.push(sentOf(outcome, (from) => ({
        from,
        to: renaming.to + from.slice(renaming.from.length),
      })));
    }
    return {
      done: sent.flatMap(({ done }) => done),
      refused: sent.flatMap(({ refused }) => refused),
      failed: sent.flatMap(({ failed }) => failed),
      since: Math.min(...sent.map(({ since }) => since)),
    };
  }

  async #send(
    items: readonly Renaming[],
    target: DriveFiles,
    overwrite: boolean,
  ): Promise<Sent> {
    const options = { isCopy: this.options.isCopy, to: target.drive, overwrite };
    const byName = new Map(items.map((item) => [item.from, item]));
    const outcome = await this.#files.transfer(items, options);
    return sentOf(outcome, (from) => byName.get(from) ?? { from, to: from });
  }

  #report(relocated: Relocated): void {
    const { moves, done, failed, drive } = relocated;
    const { toasts, router } = this.app;
    const { isCopy } = this.options;
    const [failure] = failed;
    if (failure !== undefined) {
      const verb = isCopy ? "copy" : "move";
      return toasts.error(`Cannot ${verb} ${plural(failed.length, "file")}: ${wordsOf(failure)}`);
    }
    const [first] = moves;
    if (first === undefined || (done.length === 0 && first.entry.kind === "file")) return;
    const folder = folderOf({ name: first.to });
    const isRename = !isCopy && renamingIn(moves) !== undefined;
    const what = describe(moves.map(({ entry }) => entry));
    const where = folder === "" ? drive : labelOf({ name: folder });
    const text = isRename
      ? `Renamed to “${labelOf({ name: first.to })}”`
      : `${isCopy ? "Copied" : "Moved"} ${what} to “${where}”`;
    const open = () => router.go(links.folder(this.place.project, drive, folder));
    const undo = () => void this.#undo(relocated);
    toasts.success(
      text,
      isCopy ? { label: "Open", run: open } : { label: "Undo", run: undo },
    );
  }

  async #undo({ moves, kept, done, replaced, drive }: Relocated): Promise<void> {
    const { toasts } = this.app;
    try {
      const target = new DriveFiles(this.app.api, { ...this.place, drive });
      const folders = done.filter(({ from }) => isFolder(from));
      for (const { from } of folders) await this.#files.createFolder(from);
      const back = done.filter(({ from }) => !isFolder(from))
        .map(({ from, to }) => ({ from: to, to: from }));
      const { failed } = await target.transfer(back, { isCopy: false, to: this.#files.drive });
      const made = folders.map(({ to }) => to).filter((to) => !kept.includes(to));
      if (failed.length === 0) await target.removeFolders(made);
      const added = { drive: this.#files.drive, names: moves.map(({ entry }) => entry.name) };
      this.options.onChange({ removed: moves.map(({ to }) => to), hasNew: true, added });
      const stuck = new Set(failed.map(({ name }) => name));
      const lost = await this.#restore(replaced, stuck, target);
      if (failed[0] !== undefined) {
        toasts.error(`Cannot move back ${plural(failed.length, "file")}: ${wordsOf(failed[0])}`);
      } else if (lost[0] !== undefined) {
        const what = plural(lost.length, "replaced file");
        toasts.error(`Moved back. Cannot restore ${what}: ${wordsOf(lost[0])}`);
      } else toasts.success("Moved back");
    } catch (error) {
      toasts.error(error);
    }
  }

  /** Restores replaced files whose names are free again. Returns those that it cannot restore. */
  async #restore(
    { names, since }: Replaced,
    stuck: ReadonlySet<string>,
    target: DriveFiles,
  ): Promise<Outcome["failed"]> {
    const free = names.filter((name) => !stuck.has(name));
    if (free.length === 0) return [];
    const { failed } = await target.restore(free, since);
    this.options.onChange({ removed: [], hasNew: true });
    return failed;
  }
}

/** The new name of a single entry that stays in its folder. */
function renamingIn([move, ...others]: readonly Move[]): Renaming | undefined {
  if (move === undefined || others.length > 0) return undefined;
  const { entry, to } = move;
  return folderOf(entry) === folderOf({ name: to }) ? { from: entry.name, to } : undefined;
}

function isFolder(name: string): boolean {
  return name.endsWith("/");
}

function sentOf(
  { done, failed, since }: Change,
  renamingOf: (from: string) => Renaming,
): Sent {
  const refused = failed.filter(({ code }) => code === TAKEN);
  return {
    done: done.map(renamingOf),
    refused: refused.map(({ name }) => renamingOf(name)),
    failed,
    since,
  };
}

/** The folders that exist by themselves where folders go. */
async function foldersThere(moves: readonly Move[], target: DriveFiles): Promise<string[]> {
  const folders = moves.filter(({ entry }) => entry.kind === "folder");
  return (await inParallel(folders, ({ to }) => target.foldersBelow(to))).flat();
}

/** Gives each file a name that is free. */
async function renumbered(items: readonly Renaming[], target: DriveFiles): Promise<Renaming[]> {
  const names = await target.freeNames(items.map(({ to }) => to));
  return items.map(({ from }, index) => ({ from, to: names[index]! }));
}
