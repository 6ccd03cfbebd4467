import { dataOf, type Schemas } from "../core/api.ts";
import { useApp } from "../core/context.ts";
import { type Resource, useResource } from "../core/resource.ts";

/** Loads a project with its usage and settings. */
export function useProject(project: string): Resource<Schemas["ProjectDetails"]> {
  const { api } = useApp();
  return useResource((signal) => {
    const params = { path: { project_id: project } };
    return dataOf(api.GET("/admin/v1/projects/{project_id}", { params, signal }));
  }, [project]);
}
