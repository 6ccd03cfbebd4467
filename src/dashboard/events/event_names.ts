import { type Api, dataOf } from "../core/api.ts";
import { inParallel } from "../core/concurrency.ts";
import type { SessionStore } from "../core/session.ts";
import { driveNames } from "../files/drive_filter.tsx";
import { linksOf } from "../links/drive_links.ts";

/** The names of what events mention by an id: keys, S3 keys and links, or projects. What is gone has none. */
export type Names = ReadonlyMap<string, string>;

export const NO_NAMES: Names = new Map();

/** Loads the names of all projects. */
export async function loadProjectNames(api: Api): Promise<Names> {
  const { projects } = await dataOf(api.GET("/admin/v1/projects"));
  return new Map(projects.map(({ project_id, name }) => [project_id, name ?? project_id]));
}

/** Loads the names that a project has. What the session may not list is left out. */
export async function loadNames(
  app: { api: Api; session: SessionStore },
  project: string,
  signal: AbortSignal | null,
): Promise<Names> {
  const { api, session } = app;
  const params = { path: { project_id: project } };
  const path = "/admin/v1/projects/{project_id}" as const;
  const [{ keys }, { s3_keys }] = await Promise.all([
    dataOf(api.GET(`${path}/keys`, { params, signal })),
    dataOf(api.GET(`${path}/s3-keys`, { params, signal })),
  ]);
  const names = new Map<string, string>();
  for (const { prefix, name } of keys) if (name !== null) names.set(prefix, name);
  for (const { access_key_id, name } of s3_keys) if (name !== null) names.set(access_key_id, name);
  if (!session.may("list") || !session.may("read")) return names;
  await inParallel(await driveNames(api, project, signal), async (drive) => {
    const links = linksOf({ api }, project, drive);
    await links.load(signal);
    for (const { id, name, prefix } of links.links.value) {
      names.set(id, `${drive}/${name ?? prefix ?? ""}`);
    }
  });
  return names;
}
