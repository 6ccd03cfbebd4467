import type { Schemas } from "../core/api.ts";
import { type Resource, useAnswer } from "../core/resource.ts";

export function useProject(project: string): Resource<Schemas["ProjectDetails"]> {
  return useAnswer((api, signal) => {
    const params = { path: { project_id: project } };
    return api.GET("/admin/v1/projects/{project_id}", { params, signal });
  }, [project]);
}
