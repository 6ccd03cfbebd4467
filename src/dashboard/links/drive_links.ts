import { type ReadonlySignal, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { type Api, dataOf, pagesOf, type Schemas } from "../core/api.ts";
import { type App, useApp } from "../core/context.ts";
import { type Resource, useResource } from "../core/resource.ts";
import type { Entry } from "../files/entry.ts";

export type ShareLink = Schemas["Link"];

export type LinkSettings = Omit<Schemas["LinkRequest"], "name" | "prefix">;

const PAGE = 1000;

/** The links of a drive, which the project's pages share. */
export class DriveLinks {
  readonly #path: { project_id: string; drive_name: string };
  readonly #links = signal<readonly ShareLink[]>([]);
  /** The links that were loaded, newest first. */
  readonly links: ReadonlySignal<readonly ShareLink[]> = this.#links;

  constructor(private readonly api: Api, project: string, drive: string) {
    this.#path = { project_id: project, drive_name: drive };
  }

  get drive(): string {
    return this.#path.drive_name;
  }

  /** Whether a file or folder has a link of its own that opens it now. */
  isShared({ name }: Pick<Entry, "name">): boolean {
    return this.#links.value.some((link) =>
      (link.name === name || link.prefix === name) && isOpen(link)
    );
  }

  /** Loads all links. @throws {ApiError} */
  async load(signal: AbortSignal | null = null): Promise<void> {
    const pages = pagesOf((from) =>
      this.api.GET("/v1/{project_id}/{drive_name}/links", {
        params: { path: this.#path, query: { limit: PAGE, ...from } },
        signal,
      })
    );
    this.#links.value = (await Array.fromAsync(pages)).flatMap(({ links }) => links);
  }

  /** Makes a link on a file, or on all files of a folder. @throws {ApiError} */
  async create({ kind, name }: Entry, settings: LinkSettings): Promise<ShareLink> {
    const target = kind === "folder" ? { prefix: name } : { name };
    const link = await dataOf(
      this.api.POST("/v1/{project_id}/{drive_name}/links", {
        params: { path: this.#path },
        body: { ...target, ...settings },
      }),
    );
    this.#links.value = [link, ...this.#links.value];
    return link;
  }

  /** Changes settings of a link, whose address stays the same. @throws {ApiError} */
  async change(id: string, changes: LinkSettings): Promise<ShareLink> {
    const changed = await dataOf(
      this.api.PATCH("/v1/{project_id}/{drive_name}/links/{id}", {
        params: { path: { ...this.#path, id } },
        body: changes,
      }),
    );
    this.#links.value = this.#links.value.map((link) => link.id === id ? changed : link);
    return changed;
  }

  /** Revokes a link: its address is dead at once. @throws {ApiError} */
  async revoke(id: string): Promise<void> {
    await this.api.DELETE("/v1/{project_id}/{drive_name}/links/{id}", {
      params: { path: { ...this.#path, id } },
    });
    this.#links.value = this.#links.value.filter((link) => link.id !== id);
  }
}

/** Whether a link opens something at present. */
export function isOpen(
  { expires, max_downloads, downloads }: Pick<ShareLink, "expires" | "max_downloads" | "downloads">,
  now = Date.now(),
): boolean {
  return !isOver(expires, now) && (max_downloads === null || downloads < max_downloads);
}

/** Whether something has expired. */
export function isOver(expires: string | null, now = Date.now()): boolean {
  return expires !== null && Date.parse(expires) <= now;
}

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

export function useLinks(project: string, drive: string): [DriveLinks, Resource<true>] {
  const app = useApp();
  const links = useMemo(() => linksOf(app, project, drive), [project, drive]);
  const loading = useResource(async (signal) => {
    await links.load(signal);
    return true as const;
  }, [project, drive]);
  return [links, loading];
}
