import { type ReadonlySignal, signal } from "@preact/signals";
import { type Api, dataOf, pagesOf, type Schemas } from "../core/api.ts";
import type { Entry } from "../files/entry.ts";

export type ShareLink = Schemas["Link"];

/** What a new link is made of. */
export interface LinkSettings {
  /** Seconds; `null`: until it is revoked. */
  expires_in: number | null;
  password: string | null;
  max_downloads: number | null;
  download: boolean;
}

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

  /** Whether a file or folder has a link of its own that opens it now. */
  isShared({ name }: Pick<Entry, "name">): boolean {
    return this.#links.value.some((link) =>
      (link.name === name || link.prefix === name) && isOpen(link)
    );
  }

  /** Loads all links. @throws {ApiError} */
  async load(signal?: AbortSignal): Promise<void> {
    const pages = pagesOf((from) =>
      this.api.GET("/v1/{project_id}/{drive_name}/links", {
        params: { path: this.#path, query: { limit: PAGE, ...from } },
        ...(signal === undefined ? {} : { signal }),
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
  if (expires !== null && Date.parse(expires) <= now) return false;
  return max_downloads === null || downloads < max_downloads;
}
