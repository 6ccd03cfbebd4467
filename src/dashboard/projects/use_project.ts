import type { Schemas } from "../core/api.ts";
import { type Resource, useAnswer } from "../core/resource.ts";

/** Loads a project with its usage and settings. */
export function useProject(project: string): Resource<Schemas["ProjectDetails"]> {
  return useAnswer((api, signal) => {
    const params = { path: { project_id: project } };
    return api.GET("/admin/v1/projects/{project_id}", { params, signal });
  }, [project]);
}

/** Loads the drives of a project. */
export function useDrives(project: string): Resource<Schemas["DriveList"]> {
  return useAnswer((api, signal) => {
    const params = { path: { project_id: project } };
    return api.GET("/v1/{project_id}", { params, signal });
  }, [project]);
}
