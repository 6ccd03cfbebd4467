import type { Schemas } from "../core/api.ts";
import { type Pages, type Resource, useAnswer, usePages } from "../core/resource.ts";

export function useProject(project: string): Resource<Schemas["ProjectDetails"]> {
  return useAnswer((api, signal) => {
    const params = { path: { project_id: project } };
    return api.GET("/admin/v1/projects/{project_id}", { params, signal });
  }, [project]);
}

export type Drive = Schemas["DriveList"]["drives"][number];

/** Loads the drives of a project; none if the key may not list them. */
export function useDrives(
  project: string,
  mayList = true,
): [drives: Resource<Pages<Drive>>, loadMore: () => Promise<void>] {
  type Page = Promise<{ data?: Schemas["DriveList"] }>;
  return usePages(
    (api, from, signal): Page => {
      if (!mayList) return Promise.resolve({ data: { project_id: project, drives: [] } });
      const params = { path: { project_id: project }, query: from };
      return api.GET("/v1/{project_id}", { params, signal });
    },
    ({ drives }) => drives,
    [project],
  );
}
