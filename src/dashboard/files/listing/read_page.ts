import { type Api, dataOf } from "../../core/api.ts";
import type { Entry, Place } from "../entry.ts";
import type { ListPage } from "./listing.ts";

/** Reads a page of a folder, or of the names in its drive that contain a text. */
export async function readPage(
  api: Api,
  { project, drive, path }: Place,
  query: { last?: string | undefined; contains?: string },
  signal: AbortSignal,
): Promise<ListPage> {
  const { last = "", contains } = query;
  const scope = contains === undefined ? { prefix: path, recursive: false } : { contains };
  const answer = await dataOf(api.GET("/v1/{project_id}/{drive_name}/files", {
    params: {
      path: { project_id: project, drive_name: drive },
      query: { ...scope, last, limit: 1000, details: true },
    },
    signal,
  }));
  const files = answer.files ?? [];
  // The marker of the folder itself is no entry of it.
  const entries = files.filter(({ name }) => name !== path).map(entryOf);
  return { entries, last: answer.paging?.last };
}

function entryOf({ created: _, ...file }: Omit<Entry, "kind">): Entry {
  return file.name.endsWith("/") ? { kind: "folder", name: file.name } : { kind: "file", ...file };
}
