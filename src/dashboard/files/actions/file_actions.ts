import { type Signal, signal } from "@preact/signals";
import { dataOf } from "../../core/api.ts";
import { inParallel } from "../../core/concurrency.ts";
import type { App } from "../../core/context.ts";
import { wordsOf } from "../../core/api_error.ts";
import { plural } from "../../core/format.ts";
import { links } from "../../core/links.ts";
import { serverAddress } from "../../core/server.ts";
import { copyText } from "../../ui/copy.tsx";
import { confirm } from "../../ui/form.tsx";
import { showShareDialog } from "../../links/share_dialog.tsx";
import { type Entry, folderOf, labelOf, type Place } from "../entry.ts";
import { DriveFiles, type FolderChange, type Target } from "./drive_files.ts";
import { describe, labelProblem, mayGoTo, nameIn } from "./naming.ts";
import { askForFolder, chooseTarget } from "./target_dialog.tsx";
import { ticketsOf } from "./tickets.ts";
import { type Move, Relocation } from "./relocation.tsx";

export class FileActions {
  readonly #files: DriveFiles;
  /** The name of the entry whose name is edited in its place. */
  readonly renaming: Signal<string | undefined> = signal(undefined);

  constructor(
    readonly app: App,
    readonly place: Place,
    readonly onChange: (change: FolderChange) => void,
    /** Whether entries are all of the folder. */
    readonly isEverything: (entries: readonly Entry[]) => boolean = () => false,
  ) {
    this.#files = new DriveFiles(app.api, place);
  }

  /** Starts to edit a name in its place. */
  rename(entry: Entry): void {
    this.renaming.value = entry.name;
  }

  /** Ends editing a name, unless another one is edited meanwhile. */
  endRenaming({ name }: Entry): void {
    if (this.renaming.peek() === name) this.renaming.value = undefined;
  }

  /** Returns what is wrong with a new name, or gives it to the entry unless that is cancelled during the check. */
  async renameTo(
    entry: Entry,
    label: string,
    isCancelled: () => boolean,
  ): Promise<string | undefined> {
    const isSame = label === labelOf(entry);
    const name = `${folderOf(entry)}${label}`;
    const isTaken = async () => !isSame && await this.#files.isTaken(name);
    const problem = await labelProblem(label, isTaken);
    if (problem !== undefined || isCancelled()) return problem;
    const to = entry.kind === "folder" ? `${name}/` : name;
    this.endRenaming(entry);
    if (!isSame) await this.#relocation(false).run([{ entry, to }], this.place.drive);
    return undefined;
  }

  async moveTo(entries: readonly Entry[]): Promise<void> {
    const target = await this.#choose(entries, "Move");
    if (target !== undefined) await this.#relocate(entries, target, false);
  }

  async copyTo(entries: readonly Entry[]): Promise<void> {
    const target = await this.#choose(entries, "Copy");
    if (target !== undefined) await this.#relocate(entries, target, true);
  }

  /** Moves or copies entries that were dropped on a folder, or pasted into it. */
  async drop(names: readonly string[], target: Target, isCopy: boolean): Promise<void> {
    const entries = names.map((name): Entry => ({
      kind: name.endsWith("/") ? "folder" : "file",
      name,
    }));
    await this.#relocate(entries, target, isCopy);
  }

  async newFolder(): Promise<void> {
    const { path } = this.place;
    const created = await askForFolder(this.app, this.#files, path);
    if (created === undefined) return;
    this.onChange({
      removed: [],
      hasNew: true,
      added: { drive: this.place.drive, names: [created] },
    });
    this.app.toasts.success(`Created “${labelOf({ name: created })}”`, {
      label: "Open",
      run: () => this.app.router.go(links.folder(this.place.project, this.place.drive, created)),
    });
  }

  /** Deletes entries: into the trash with a way back, or for good after a question. */
  async remove(entries: readonly Entry[]): Promise<void> {
    const hasTrash = await this.#mayBeRestored();
    if (!hasTrash && !await this.#confirmRemoval(entries)) return;
    // Only what is there now: a file that others store in a folder meanwhile stays.
    const { files, folders } = await this.#files.contentsOf(entries);
    const { done, failed, since } = await this.#files.remove(files);
    const isWhole = failed.length === 0;
    if (isWhole) await this.#files.removeFolders(folders);
    const gone = isWhole ? entries.map(({ name }) => name) : done;
    // Others may have stored a file in a folder meanwhile.
    this.onChange({ removed: gone, hasNew: entries.some(({ kind }) => kind === "folder") });
    const [failure] = failed;
    if (failure !== undefined) {
      const text = `Cannot delete ${plural(failed.length, "file")}: ${wordsOf(failure)}`;
      return this.app.toasts.error(text);
    }
    if (!hasTrash) return this.app.toasts.success(`Deleted ${describe(entries)}`);
    this.app.toasts.success(`Moved ${describe(entries)} to trash`, {
      label: "Undo",
      run: () => void this.#undoRemoval(done, folders, since),
    });
  }

  /** Downloads a file by itself, and more than one file as a ZIP. */
  async download(entries: readonly Entry[]): Promise<void> {
    const [first] = entries;
    if (first === undefined) return;
    const isFile = entries.length === 1 && first.kind === "file";
    const tickets = ticketsOf(this.app);
    const address = isFile
      ? await tickets.addressOf(this.place, first.name, true)
      : await tickets.archiveOf(this.place, entries, this.isEverything(entries));
    // The browser's own download: of any size, and it can be resumed.
    const anchor = document.createElement("a");
    anchor.href = address;
    anchor.download = "";
    anchor.click();
  }

  async share(entry: Entry): Promise<void> {
    await showShareDialog(this.app, this.place, entry);
  }

  /** Copies the address of an entry within the dashboard, which opens it for people who may sign in. */
  async copyLink(entry: Entry): Promise<void> {
    const { project, drive } = this.place;
    const hash = entry.kind === "folder"
      ? links.folder(project, drive, entry.name)
      : links.folder(project, drive, folderOf(entry), { open: labelOf(entry) });
    await copyText(`${serverAddress()}/${hash}`);
    this.app.toasts.success("Link copied. Only people who can sign in can open it", {
      label: "Share with anyone",
      run: () => void this.share(entry),
    });
  }

  async #choose(entries: readonly Entry[], verb: "Move" | "Copy"): Promise<Target | undefined> {
    const title = `${verb} ${describe(entries)}`;
    const isMove = verb === "Move";
    return await chooseTarget(this.app, this.place, { title, action: verb, isMove, entries });
  }

  async #relocate(entries: readonly Entry[], target: Target, isCopy: boolean): Promise<void> {
    const { drive } = this.place;
    const isSameDrive = target.drive === drive;
    const stuck = entries.find((entry) => isSameDrive && !mayGoTo(entry, target.path));
    if (stuck !== undefined) throw new Error(`“${labelOf(stuck)}” cannot go into itself`);
    const files = new DriveFiles(this.app.api, { ...this.place, drive: target.drive });
    const isHere = (entry: Entry) => isSameDrive && nameIn(target.path, entry) === entry.name;
    const going = entries.filter((entry) => isCopy || !isHere(entry));
    const used = new Set<string>();
    const moves = await inParallel(going, async (entry): Promise<Move> => {
      const name = nameIn(target.path, entry);
      // A copy in the same folder, and the second of two entries of one name that a search found, get numbers.
      const isFree = !isHere(entry) && !used.has(name);
      used.add(name);
      return { entry, to: isFree ? name : (await files.freeNames([name], used))[0]! };
    });
    if (moves.length > 0) await this.#relocation(isCopy).run(moves, target.drive);
  }

  #relocation(isCopy: boolean): Relocation {
    return new Relocation(this.app, this.place, { isCopy, onChange: this.onChange });
  }

  /** Whether what is deleted can be restored. A key that may not read the project learns it from its session. */
  async #mayBeRestored(): Promise<boolean> {
    const { api, session } = this.app;
    if (!session.may("admin")) {
      const { session: now } = await dataOf(api.GET("/dashboard/session"));
      return (now?.trash_days ?? 0) > 0;
    }
    const params = { path: { project_id: this.place.project } };
    const { trash_days } = await dataOf(api.GET("/admin/v1/projects/{project_id}", { params }));
    return trash_days > 0;
  }

  async #confirmRemoval(entries: readonly Entry[]): Promise<boolean> {
    const warning = "The trash is off, so this cannot be undone.";
    const hasFolder = entries.some(({ kind }) => kind === "folder");
    return await confirm(this.app, {
      title: `Delete ${describe(entries)}?`,
      text: hasFolder ? `Folders are deleted with all files in them. ${warning}` : warning,
      action: "Delete",
    });
  }

  async #undoRemoval(
    names: readonly string[],
    folders: readonly string[],
    since: number,
  ): Promise<void> {
    const { toasts } = this.app;
    try {
      for (const folder of folders) await this.#files.createFolder(folder);
      const { done, failed } = await this.#files.restore(names, since);
      this.onChange({ removed: [], hasNew: true });
      const what = names.length === 0
        ? plural(folders.length, "folder")
        : plural(done.length, "file");
      if (failed.length === 0) return toasts.success(`Restored ${what}`);
      const reason = failed[0] === undefined ? "" : wordsOf(failed[0]);
      toasts.error(`Cannot restore ${plural(failed.length, "file")}: ${reason}`);
    } catch (error) {
      toasts.error(error);
    }
  }
}
