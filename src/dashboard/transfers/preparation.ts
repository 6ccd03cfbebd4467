import { dataOf } from "../core/api.ts";
import type { App } from "../core/context.ts";
import { formatBytes, plural } from "../core/format.ts";
import { askAboutConflicts } from "../files/actions/conflict_dialog.tsx";
import { numbered } from "../files/actions/naming.ts";
import type { Place } from "../files/entry.ts";
import type { UploadItem } from "./transfers.ts";
import type { UploadSource } from "./upload/upload_task.ts";

/** Names of a page of a list (the server's maximum). */
const PAGE = 1000;

/** Returns a page of the names in a drive: those that begin with a prefix, after a name. */
export type ListNames = (
  query: { prefix: string; last?: string; limit: number },
) => Promise<{ names: string[]; paging?: unknown }>;

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
  const list: ListNames = async (query) =>
    await dataOf(app.api.GET("/v1/{project_id}/{drive_name}/files", {
      params: { path: { project_id: project, drive_name: drive }, query },
    }));
  // A key that may not list cannot be asked; the server refuses to replace a file then.
  const find = (names: Iterable<string>) =>
    app.session.may("list") ? takenNames(list, names, path) : Promise.resolve(new Set<string>());
  const taken = await find(files.keys());
  const choices = await askAboutConflicts(app, [...taken]);
  const choiceOf = new Map([...taken].map((name, index) => [name, choices[index]]));
  const wanted = [...taken].filter((name) => choiceOf.get(name) === "both");
  const renamed = await freeNames(taken, wanted, files, find);
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

/** Returns for each of some taken names one with a number that neither the drive nor another file has. */
async function freeNames(
  taken: ReadonlySet<string>,
  wanted: readonly string[],
  files: ReadonlyMap<string, File>,
  find: (names: Iterable<string>) => Promise<Set<string>>,
): Promise<Map<string, string>> {
  const result = new Map<string, string>();
  const known = new Set([...taken, ...files.keys()]);
  for (let open = wanted; open.length > 0;) {
    const candidates = new Map<string, string>();
    for (const name of open) {
      const candidate = numbered(name, (name) => known.has(name));
      candidates.set(name, candidate);
      known.add(candidate);
    }
    const found = await find(candidates.values());
    for (const [name, candidate] of candidates) {
      if (!found.has(candidate)) result.set(name, candidate);
    }
    open = open.filter((name) => !result.has(name));
  }
  return result;
}

/**
 * Returns the names that a drive has already. Lists from each name that is still open, so that a few names in a large
 * folder cost a few calls, and many names no more than the whole list.
 *
 * @param path The folder that all names are in.
 */
export async function takenNames(
  list: ListNames,
  names: Iterable<string>,
  path: string,
): Promise<Set<string>> {
  const open = [...names].sort(compareNames);
  const taken = new Set<string>();
  let end = "";
  for (let index = 0; index < open.length;) {
    const name = open[index] ?? "";
    const before = name.slice(0, -1).replace(/[\uD800-\uDBFF]$/, "");
    const last = compareNames(before, end) > 0 ? before : end;
    const page = await list({ prefix: path, limit: PAGE, ...(last === "" ? {} : { last }) });
    const found = new Set(page.names);
    const isLast = page.paging === undefined;
    end = page.names.at(-1) ?? last;
    for (; index < open.length; index++) {
      const name = open[index] ?? "";
      if (!isLast && compareNames(name, end) > 0) break;
      if (found.has(name)) taken.add(name);
    }
  }
  return taken;
}

/** Compares names like the server: by the bytes of their UTF-8. */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    if (a[index] !== b[index]) return rankAt(a, index) - rankAt(b, index);
  }
  return a.length - b.length;
}

/** In UTF-8 the characters of two code units come after all others. */
function rankAt(text: string, index: number): number {
  const unit = text.charCodeAt(index);
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
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
