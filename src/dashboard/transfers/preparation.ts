import { dataOf } from "../core/api.ts";
import type { App } from "../core/context.ts";
import { formatBytes, plural } from "../core/format.ts";
import { askAboutConflicts } from "../files/actions/conflict_dialog.tsx";
import { DriveFiles } from "../files/actions/drive_files.ts";
import { freeNames, numbered } from "../files/actions/naming.ts";
import type { Place } from "../files/entry.ts";
import type { UploadItem } from "./chosen_files.ts";
import type { UploadSource } from "./upload/upload_task.ts";

/**
 * Decides under which names files are sent. Asks once about those that exist.
 *
 * @throws {ApiError} If the server cannot be asked.
 * @throws {Error} If the files do not fit into the project.
 */
export async function prepare(
  app: App,
  { project, drive, path }: Place,
  items: readonly UploadItem[],
): Promise<UploadSource[]> {
  const files = new Map<string, File>();
  const folders = new Map<string, string>();
  for (const { file, path: below } of items) {
    // Two files of one name may come from different folders of the disk.
    const name = files.has(path + below)
      ? numbered(path + below, (name) => files.has(name))
      : path + below;
    files.set(name, file);
    const slash = below.indexOf("/");
    if (slash > 0) folders.set(name, path + below.slice(0, slash + 1));
  }
  const there = new DriveFiles(app.api, { project, drive });
  const { name_prefix } = app.session.current.value ?? {};
  const mayAsk = app.session.may("list");
  // The server refuses to replace a file that the key may not ask for.
  const find = (names: readonly string[]) =>
    there.existing(names.filter((name) => mayAsk && name.startsWith(name_prefix ?? "")));
  const taken = await find([...files.keys()]);
  const choices = await askAboutConflicts(app, [...taken]);
  const choiceOf = new Map([...taken].map((name, index) => [name, choices[index]]));
  const wanted = [...taken].filter((name) => choiceOf.get(name) === "both");
  const free = await freeNames(wanted, new Set(files.keys()), find);
  const renamed = new Map(wanted.map((name, index) => [name, free[index]]));
  const sources: UploadSource[] = [];
  for (const [original, file] of files) {
    const choice = choiceOf.get(original);
    if (choice === "skip") continue;
    const name = renamed.get(original) ?? original;
    const mayReplace = choice === "replace";
    const folder = folders.get(original);
    sources.push({ file, target: { project, drive, name }, mayReplace, folder });
  }
  await requireSpace(app, project, sources);
  return sources;
}

/** Fails if new files do not fit into the project. What replaced files free is left to the server. */
async function requireSpace(
  { api, session }: App,
  project: string,
  sources: readonly UploadSource[],
): Promise<void> {
  if (!session.may("admin") || sources.length === 0) return;
  const params = { path: { project_id: project } };
  const { max_bytes, bytes, open_upload_bytes, trash_bytes } = await dataOf(
    api.GET("/admin/v1/projects/{project_id}", { params }),
  );
  if (max_bytes === null) return;
  const left = Math.max(0, max_bytes - bytes - open_upload_bytes - trash_bytes);
  const fresh = sources.filter(({ mayReplace }) => !mayReplace);
  const needed = fresh.reduce((sum, { file }) => sum + file.size, 0);
  if (needed <= left) return;
  throw new Error(
    `Not enough space for ${plural(fresh.length, "file")} of ${formatBytes(needed)}: ` +
      `the project has ${formatBytes(left)} left of ${formatBytes(max_bytes)}`,
  );
}
