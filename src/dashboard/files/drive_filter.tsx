import { type Api, pagesOf } from "../core/api.ts";
import { inParallel } from "../core/concurrency.ts";
import { useApp } from "../core/context.ts";
import { type Resource, useLive, useResource } from "../core/resource.ts";
import { FilterSelect } from "../ui/filter_bar.tsx";

/** What a list shows of the drives of a project. */
export interface OfDrives<T> {
  /** All drives of the project. */
  drives: readonly string[];
  /** What was loaded of those that are shown. */
  parts: readonly T[];
}

/**
 * Loads something of each drive of a project, and again when something has changed in it.
 *
 * @param drive The only one that is shown; empty for all.
 */
export function useOfDrives<T>(
  project: string,
  drive: string,
  load: (drive: string, signal: AbortSignal) => Promise<T>,
): Resource<OfDrives<T>> {
  const { api } = useApp();
  const loaded = useResource(async (signal): Promise<OfDrives<T>> => {
    const drives = await driveNames(api, project, signal);
    const shown = drive === "" ? drives : [drive];
    return { drives, parts: await inParallel(shown, (name) => load(name, signal)) };
  }, [project, drive]);
  useLive({ project }, loaded.reload);
  return loaded;
}

/** The names of all drives of a project. @throws {ApiError} */
export async function driveNames(
  api: Api,
  project: string,
  signal: AbortSignal | null,
): Promise<string[]> {
  const pages = pagesOf((from) =>
    api.GET("/v1/{project_id}", {
      params: { path: { project_id: project }, query: from },
      signal,
    })
  );
  return (await Array.fromAsync(pages)).flatMap(({ drives }) =>
    drives.map(({ drive_name }) => drive_name)
  );
}

/** A choice of the drive that a list shows, in the address; nothing where there is only one. */
export function DriveFilter({ drives }: { drives: readonly string[] }) {
  if (drives.length <= 1) return null;
  const options = drives.map((name) => [name, name] as const);
  return <FilterSelect name="drive" label="Drive" all="All drives" options={options} />;
}
