import { useRef } from "preact/hooks";
import { dataOf, pagesOf } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { wordsOf } from "../core/api_error.ts";
import { plural } from "../core/format.ts";
import type { Resource } from "../core/resource.ts";
import { askAboutConflicts } from "../files/actions/conflict_dialog.tsx";
import { DriveFiles, type Outcome } from "../files/actions/drive_files.ts";
import { type OfDrives, useOfDrives } from "../files/drive_filter.tsx";
import { confirm } from "../ui/form.tsx";
import {
  type DriveTrash,
  foldersOf,
  togetherWith,
  type TrashItem,
  type TrashRow,
} from "./trash_rows.ts";

/** Items that one page of the server has. */
const PAGE = 1000;

export interface TrashActions {
  trash: Resource<OfDrives<DriveTrash>>;
  loadMore: () => Promise<void>;
  restore: (rows: readonly TrashRow[]) => Promise<void>;
  /** Deletes rows for good, after a question. */
  remove: (rows: readonly TrashRow[]) => Promise<void>;
  /** Empties the trash of the drives that are shown, after a question. */
  empty: () => Promise<void>;
}

/** An item, and the drive that it is in. */
type Located = TrashItem & { drive: string };

/** Loads the trash of a project. @param drive The only one that is shown; empty for all. */
export function useTrash(project: string, drive: string): TrashActions {
  const app = useApp();
  const pages = useRef(1);
  /** Ends with the actions of this page: a list that is loaded meanwhile would show half of what they do. */
  const acting = useRef<Promise<unknown>>(Promise.resolve());
  const during = <T extends unknown[]>(act: (...of: T) => Promise<void>) => (...of: T) => {
    const action = act(...of);
    acting.current = Promise.allSettled([acting.current, action]);
    return action;
  };
  const trash = useOfDrives(
    project,
    drive,
    async (name, signal) => {
      await acting.current;
      return await load(app, { project, drive: name }, pages.current, signal);
    },
  );
  const drop = (gone: ReadonlySet<string>) => {
    trash.edit((all) => ({
      ...all,
      parts: all.parts.map((part) => ({
        ...part,
        items: part.items.filter(({ id }) => !gone.has(id)),
      })),
    }));
    void trash.reload();
  };
  const filesOf = (name: string) => new DriveFiles(app.api, { project, drive: name });
  return {
    trash,
    loadMore: () => {
      pages.current++;
      return trash.reload();
    },
    restore: during(async (rows: readonly TrashRow[]) => {
      const items = await itemsOf(app, project, rows);
      const { done, failed } = await restoreAll(app, filesOf, items);
      drop(new Set(done));
      const [failure] = failed;
      if (failure !== undefined) {
        app.toasts.error(
          `Cannot restore ${plural(failed.length, "file")}: ${wordsOf(failure)}`,
        );
      } else if (done.length > 0) app.toasts.success(`Restored ${plural(done.length, "file")}`);
    }),
    remove: during(async (rows: readonly TrashRow[]) => {
      const items = await itemsOf(app, project, rows);
      if (!await confirmRemoval(app, `Delete ${plural(items.length, "file")}?`)) return;
      for (const [name, ids] of idsByDrive(items)) await filesOf(name).removeItems(ids);
      drop(new Set(items.map(({ id }) => id)));
      app.toasts.success("Deleted for good");
    }),
    empty: during(async () => {
      const { parts = [] } = trash.data ?? {};
      const title = drive === "" ? "Empty the trash?" : `Empty the trash of “${drive}”?`;
      if (!await confirmRemoval(app, title)) return;
      for (const { drive, items } of parts) {
        if (items.length > 0) await filesOf(drive).removeItems();
      }
      void trash.reload();
      app.toasts.success("Deleted for good");
    }),
  };
}

async function confirmRemoval(app: App, title: string): Promise<boolean> {
  return await confirm(app, { title, text: "This cannot be undone.", action: "Delete for good" });
}

/** Loads the first pages of a drive's trash. */
async function load(
  { api }: App,
  { project, drive }: { project: string; drive: string },
  pages: number,
  signal: AbortSignal,
): Promise<DriveTrash> {
  const path = { project_id: project, drive_name: drive };
  const items: TrashItem[] = [];
  let last: string | undefined;
  for (let page = 0; page < pages && (page === 0 || last !== undefined); page++) {
    const query = { limit: PAGE, ...(last === undefined ? {} : { last }) };
    const answer = await dataOf(
      api.GET("/v1/{project_id}/{drive_name}/trash", { params: { path, query }, signal }),
    );
    items.push(...answer.items);
    last = answer.paging?.last;
  }
  const folders = foldersOf(items);
  if (folders.length === 0) return { drive, items, last, gone: new Set() };
  const { names } = await dataOf(
    api.POST("/v1/{project_id}/{drive_name}/files/exist", {
      params: { path },
      body: { names: folders },
      signal,
    }),
  );
  return { drive, items, last, gone: new Set(folders).difference(new Set(names)) };
}

/** Returns all items of rows, also those of folders that were not loaded. */
async function itemsOf(
  { api }: App,
  project: string,
  rows: readonly TrashRow[],
): Promise<Located[]> {
  const items: Located[] = [];
  for (const row of rows) {
    const { drive, name } = row;
    let own = row.items;
    if (row.isPartial) {
      const params = { path: { project_id: project, drive_name: drive } };
      const found = pagesOf((from) =>
        api.GET("/v1/{project_id}/{drive_name}/trash", {
          params: { ...params, query: { prefix: name, limit: PAGE, ...from } },
        })
      );
      own = togetherWith(row, (await Array.fromAsync(found)).flatMap(({ items }) => items));
    }
    items.push(...own.map((item) => ({ ...item, drive })));
  }
  return items;
}

function idsByDrive(items: readonly Located[]): [drive: string, ids: string[]][] {
  const drives = Map.groupBy(items, ({ drive }) => drive);
  return [...drives].map(([drive, own]) => [drive, own.map(({ id }) => id)]);
}

/** Restores items. Asks what happens to those whose names other files have now. */
async function restoreAll(
  app: App,
  filesOf: (drive: string) => DriveFiles,
  items: readonly Located[],
): Promise<Outcome> {
  const outcome = await restoreEach(filesOf, items, {});
  const isTaken = ({ code }: Outcome["failed"][number]) => code === "file_exists";
  const taken = new Set(outcome.failed.filter(isTaken).map(({ name }) => name));
  if (taken.size === 0) return outcome;
  const conflicts = items.filter(({ id }) => taken.has(id));
  const choices = await askAboutConflicts(app, conflicts.map(({ name }) => name));
  const chosen = (wanted: string) => conflicts.filter((_, index) => choices[index] === wanted);
  const again = [
    await restoreEach(filesOf, chosen("replace"), { overwrite: true }),
    await restoreEach(filesOf, chosen("both"), { isRenaming: true }),
  ];
  return {
    done: [...outcome.done, ...again.flatMap(({ done }) => done)],
    failed: [
      ...outcome.failed.filter((failure) => !isTaken(failure)),
      ...again.flatMap(({ failed }) => failed),
    ],
  };
}

async function restoreEach(
  filesOf: (drive: string) => DriveFiles,
  items: readonly Located[],
  { overwrite = false, isRenaming = false }: { overwrite?: boolean; isRenaming?: boolean },
): Promise<Outcome> {
  const outcome: Outcome = { done: [], failed: [] };
  for (const [drive, own] of Map.groupBy(items, ({ drive }) => drive)) {
    const files = filesOf(drive);
    const ids = own.map(({ id }) => id);
    const names = isRenaming ? await files.freeNames(own.map(({ name }) => name)) : undefined;
    const { done, failed } = await files.restoreItems(ids, { overwrite, names });
    outcome.done.push(...done);
    outcome.failed.push(...failed);
  }
  return outcome;
}
