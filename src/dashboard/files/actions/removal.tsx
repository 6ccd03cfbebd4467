import { dataOf } from "../../core/api.ts";
import type { App } from "../../core/context.ts";
import { plural } from "../../core/format.ts";
import { confirm } from "../../ui/dialog.tsx";
import { type Entry, labelOf, type Place } from "../entry.ts";

/** How entries are deleted. */
export interface Removal {
  /** Whether what is deleted can be restored. */
  hasTrash: boolean;
}

/** Asks before files are deleted for good. Returns `undefined` if the user does not want it. */
export async function confirmRemoval(
  app: App,
  { project }: Place,
  entries: readonly Entry[],
): Promise<Removal | undefined> {
  const days = await trashDays(app, project);
  const hasTrash = days !== undefined && days > 0;
  if (hasTrash) return { hasTrash };
  const warning = days === undefined
    ? "If the trash of the project is off, this cannot be undone."
    : "The trash is off, so this cannot be undone.";
  const [first] = entries;
  const what = entries.length === 1 && first !== undefined
    ? `“${labelOf(first)}”`
    : plural(entries.length, "item");
  const hasFolder = entries.some(({ kind }) => kind === "folder");
  const isAgreed = await confirm(app, {
    title: `Delete ${what}?`,
    text: hasFolder ? `Folders are deleted with all files in them. ${warning}` : warning,
    action: "Delete",
  });
  return isAgreed ? { hasTrash } : undefined;
}

/** The days that deleted files are kept, 0 where they are not; `undefined` if the session may not know. */
async function trashDays({ api, session }: App, project: string): Promise<number | undefined> {
  if (!session.may("admin")) return undefined;
  const params = { path: { project_id: project } };
  const { trash_days } = await dataOf(api.GET("/admin/v1/projects/{project_id}", { params }));
  return trash_days;
}
