import { dataOf } from "../core/api.ts";
import type { App } from "../core/context.ts";
import { links } from "../core/links.ts";

/** The first page of a session: a project opens on its files. */
export function homeOf({ session }: Pick<App, "session">): string {
  const { role, project_id = null } = session.current.value ?? {};
  return role === "admin" || project_id === null ? links.projects() : links.drives(project_id);
}

/** Leads an administrator who has one project with one drive, or none yet, to where files can be dropped. */
export async function leadToFiles({ api, router, session }: App): Promise<void> {
  if (!session.isAdministrator) return;
  const { projects } = await dataOf(api.GET("/admin/v1/projects"));
  const [only, another] = projects;
  if (only === undefined || another !== undefined) return;
  const { project_id } = only;
  const params = { path: { project_id }, query: { limit: 2 } };
  const { drives } = await dataOf(api.GET("/v1/{project_id}", { params }));
  const [drive] = drives;
  // The user may have gone elsewhere meanwhile.
  if (location.hash !== links.projects()) return;
  if (drive === undefined) router.replace(links.firstDrive(project_id));
  else if (drives.length === 1) router.replace(links.folder(project_id, drive.drive_name));
  else router.replace(links.drives(project_id));
}
