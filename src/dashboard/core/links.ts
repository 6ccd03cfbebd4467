import { hashOf } from "./router.ts";

/** The sections of a project, as they stand in addresses. */
export type Section =
  | "files"
  | "links"
  | "trash"
  | "uploads"
  | "apps"
  | "keys"
  | "webhooks"
  | "usage"
  | "events"
  | "settings"
  | "connect";

/** What the address of a folder has besides its place: the file that is open, the search, and the filters. */
export type FolderQuery = Partial<Record<"open" | "q" | "kind" | "size" | "age", string>>;

export const links = {
  projects: (): string => "#/projects",
  status: (): string => "#/status",
  account: (): string => "#/account",

  section: (project: string, section: Section, rest: readonly string[] = []): string =>
    hashOf(["p", project, section, ...rest]),

  /** A folder of a drive. @param path Empty, or ends with a slash. */
  folder: (
    project: string,
    drive: string,
    path = "",
    query: FolderQuery = {},
  ): string => hashOf(["p", project, "files", drive, ...path.split("/")], query),

  /** A file over the list of its folder, or a folder. @param name The whole name. */
  entry: (project: string, drive: string, name: string): string => {
    const at = name.lastIndexOf("/") + 1;
    return links.folder(project, drive, name.slice(0, at), { open: name.slice(at) });
  },

  /** A search in all drives. */
  search: (project: string, q: string): string => hashOf(["p", project, "files"], { q }),

  /** The drive of a project that has none yet: the first upload makes it. */
  firstDrive: (project: string): string => hashOf(["p", project, "files", "files", ""]),

  drives: (project: string): string => hashOf(["p", project, "files"]),
  app: (project: string, app: string): string => hashOf(["p", project, "apps", app]),
};
