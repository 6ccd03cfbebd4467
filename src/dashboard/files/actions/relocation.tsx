import type { App } from "../../core/context.ts";
import { plural } from "../../core/format.ts";
import { links } from "../../core/links.ts";
import { type Entry, folderOf, labelOf, type Place } from "../entry.ts";
import { askAboutConflicts } from "./conflict_dialog.tsx";
import { DriveFiles, type Outcome, type Renaming } from "./drive_files.ts";
import type { FolderChange } from "./file_actions.ts";
import { numbered, renamingsOf } from "./naming.ts";

/** An entry, and the name that it gets. */
export interface Move {
  entry: Entry;
  to: string;
}

interface Options {
  isCopy: boolean;
  onChange: (change: FolderChange) => void;
}

/** Lookups of targets at the same time. */
const LOOKUPS = 6;

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
    const contents = await this.#files.contentsOf(moves.map(({ entry }) => entry));
    const items = moves.flatMap(({ entry, to }) => renamingsOf(entry, to, contents.files));
    const target = new DriveFiles(this.app.api, { ...this.place, drive });
    // Folders first, so that none is missing if this is interrupted.
    const folders = moves.flatMap(({ entry, to }) =>
      entry.kind === "folder" ? foldersOf(entry, to, contents.folders) : []
    );
    for (const { to } of folders) await target.createFolder(to);
    const outcome = await this.#transfer(items, target);
    if (outcome === undefined) return;
    const { done, failed } = outcome;
    if (!isCopy && failed.length === 0) {
      await this.#files.removeFolders(folders.map(({ from }) => from));
    }
    const isWhole = failed.length === 0;
    const gone = isCopy ? [] : isWhole ? moves.map(({ entry }) => entry.name) : done.map(fromOf);
    onChange({ removed: gone, hasNew: true });
    this.#report(moves, { done, failed, drive });
  }

  /** Sends what has no conflict, then what the user decided about the rest. */
  async #transfer(
    items: readonly Renaming[],
    target: DriveFiles,
  ): Promise<{ done: Renaming[]; failed: Outcome["failed"] } | undefined> {
    const { isCopy } = this.options;
    const options = { isCopy, to: target.drive };
    const first = await this.#files.transfer(items, options);
    const byName = new Map(items.map((item) => [item.from, item]));
    const done = first.done.flatMap((name) => byName.get(name) ?? []);
    const refused = first.failed.flatMap(({ name }) => byName.get(name) ?? []);
    const conflicts = await existing(refused, target);
    const failed = first.failed.filter(({ name }) => !conflicts.some(({ from }) => from === name));
    if (conflicts.length === 0) return { done, failed };
    const choice = await askAboutConflicts(this.app, conflicts.map(({ to }) => to));
    if (choice === "skip") return { done, failed };
    const again = choice === "replace" ? conflicts : await renumbered(conflicts, target);
    const second = await this.#files.transfer(again, {
      ...options,
      overwrite: choice === "replace",
    });
    const secondByName = new Map(again.map((item) => [item.from, item]));
    done.push(...second.done.flatMap((name) => secondByName.get(name) ?? []));
    return { done, failed: [...failed, ...second.failed] };
  }

  #report(
    moves: readonly Move[],
    { done, failed, drive }: { done: Renaming[]; failed: Outcome["failed"]; drive: string },
  ): void {
    const { toasts, router } = this.app;
    const { isCopy } = this.options;
    const [failure] = failed;
    if (failure !== undefined) {
      const verb = isCopy ? "copy" : "move";
      return toasts.error(`Cannot ${verb} ${plural(failed.length, "file")}: ${failure.error}`);
    }
    const [first] = moves;
    if (first === undefined || (done.length === 0 && first.entry.kind === "file")) return;
    const folder = folderOf({ name: first.to });
    const isRename = moves.length === 1 && folderOf(first.entry) === folder && !isCopy;
    const what = moves.length === 1 ? `“${labelOf(first.entry)}”` : plural(moves.length, "item");
    const where = folder === "" ? drive : labelOf({ name: folder });
    const text = isRename
      ? `Renamed to “${labelOf({ name: first.to })}”`
      : `${isCopy ? "Copied" : "Moved"} ${what} to “${where}”`;
    const open = () => router.go(links.folder(this.place.project, drive, folder));
    const undo = () => void this.#undo(moves, done, drive);
    toasts.success(
      text,
      isCopy ? { label: "Open", run: open } : { label: "Undo", run: undo },
    );
  }

  async #undo(moves: readonly Move[], done: readonly Renaming[], drive: string): Promise<void> {
    const { toasts } = this.app;
    try {
      const target = new DriveFiles(this.app.api, { ...this.place, drive });
      for (const { entry } of moves) {
        if (entry.kind === "folder") await this.#files.createFolder(entry.name);
      }
      const back = done.map(({ from, to }) => ({ from: to, to: from }));
      const { failed } = await target.transfer(back, { isCopy: false, to: this.#files.drive });
      const folders = moves.filter(({ entry }) => entry.kind === "folder").map(({ to }) => to);
      if (failed.length === 0) await target.removeFolders(folders);
      this.options.onChange({ removed: moves.map(({ to }) => to), hasNew: true });
      if (failed[0] === undefined) toasts.success("Moved back");
      else toasts.error(`Cannot move back ${plural(failed.length, "file")}: ${failed[0].error}`);
    } catch (error) {
      toasts.error(error);
    }
  }
}

function fromOf({ from }: Renaming): string {
  return from;
}

/** The folder itself and the folders in it, with the names that they get. */
function foldersOf(entry: Entry, to: string, folders: readonly string[]): Renaming[] {
  const own = new Set([entry.name, ...folders.filter((name) => name.startsWith(entry.name))]);
  return [...own].map((from) => ({ from, to: to + from.slice(entry.name.length) }));
}

/** Of files that were refused, those whose target exists. */
async function existing(items: readonly Renaming[], target: DriveFiles): Promise<Renaming[]> {
  const found: Renaming[] = [];
  for (let start = 0; start < items.length; start += LOOKUPS) {
    const some = items.slice(start, start + LOOKUPS);
    const exist = await Promise.all(some.map(({ to }) => target.exists(to)));
    found.push(...some.filter((_, index) => exist[index]));
  }
  return found;
}

/** Gives each file a name that is free. */
async function renumbered(items: readonly Renaming[], target: DriveFiles): Promise<Renaming[]> {
  const taken = new Map<string, Set<string>>();
  const result: Renaming[] = [];
  for (const { from, to } of items) {
    const folder = folderOf({ name: to });
    const labels = taken.get(folder) ?? await target.labelsIn(folder);
    taken.set(folder, labels);
    const free = numbered(to, (name) => labels.has(labelOf({ name })));
    labels.add(labelOf({ name: free }));
    result.push({ from, to: free });
  }
  return result;
}
