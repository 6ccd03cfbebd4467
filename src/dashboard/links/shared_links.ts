import { useMemo } from "preact/hooks";
import { type App, useApp } from "../core/context.ts";
import { type Resource, useResource } from "../core/resource.ts";
import { DriveLinks } from "./drive_links.ts";

/** The links of the drives that were opened, by the page's API client. */
const known = new WeakMap<object, Map<string, DriveLinks>>();

/** Returns the links of a drive: the same object for every part of the page, so that all show a change at once. */
export function linksOf({ api }: Pick<App, "api">, project: string, drive: string): DriveLinks {
  const drives = known.get(api) ?? new Map<string, DriveLinks>();
  known.set(api, drives);
  const key = JSON.stringify([project, drive]);
  const links = drives.get(key) ?? new DriveLinks(api, project, drive);
  drives.set(key, links);
  return links;
}

/** Loads the links of a drive. */
export function useLinks(project: string, drive: string): [DriveLinks, Resource<true>] {
  const app = useApp();
  const links = useMemo(() => linksOf(app, project, drive), [project, drive]);
  const loading = useResource(async (signal) => {
    await links.load(signal);
    return true as const;
  }, [project, drive]);
  return [links, loading];
}
