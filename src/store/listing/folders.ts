import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import type { FolderRecord, Place } from "../engine/records.ts";
import { touchDrive } from "../quotas/usage.ts";
import { transact } from "../engine/transact.ts";
import { listMarkers, type ListPage, type ListQuery } from "./listing.ts";

/**
 * Markers of folders: names that end with a slash and show in listings although no file is below them. A marker is no
 * file. It has no size and counts nowhere, as an empty file counts for no bytes.
 */
export class FolderStore {
  constructor(private readonly db: Database, private readonly projects: ProjectCache) {}

  /**
   * Marks a folder, and creates the drive if there is none with this name. A marker that exists stays as it is.
   *
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   */
  async create(place: Place): Promise<void> {
    const key = keys.folder(place);
    await transact(this.db, async () => {
      // An attempt fails if the project has changed since it was cached.
      this.projects.forget(place.project);
      const { unchanged } = await this.projects.requireWritable(place);
      const marker = await this.db.reader.get<FolderRecord>(key);
      if (marker.value !== null) return { result: undefined };
      const operation = new Operation().share(unchanged)
        .set(key, { created: Date.now() } satisfies FolderRecord);
      return { operation: touchDrive(operation, place), result: undefined };
    });
  }

  /** Returns whether a move of one folder to another has begun and not ended. */
  async isArriving(to: Place, { drive, name }: Place): Promise<boolean> {
    const arriving = (await this.get(to))?.arriving;
    return arriving?.drive === drive && arriving.name === name;
  }

  /** Marks the target of a move, so that one that was interrupted is continued. */
  async beginMove(to: Place, from: Place): Promise<void> {
    await this.create(to);
    const { drive, name } = from;
    const isTemporary = await this.get(from) === undefined;
    await this.#change(to, (marker) => ({ ...marker, arriving: { drive, name, isTemporary } }));
  }

  async endMove(to: Place): Promise<void> {
    await this.#change(
      to,
      ({ created, arriving }) => arriving?.isTemporary ? undefined : { created },
    );
  }

  /** Changes a marker, if there is one. `undefined` deletes it. */
  async #change(
    place: Place,
    change: (marker: FolderRecord) => FolderRecord | undefined,
  ): Promise<void> {
    const key = keys.folder(place);
    await transact(this.db, async () => {
      const { value, versionstamp } = await this.db.reader.get<FolderRecord>(key);
      if (value === null) return { result: undefined };
      const operation = new Operation().check(key, versionstamp);
      const changed = change(value);
      if (changed === undefined) operation.delete(key);
      else operation.set(key, changed);
      return { operation, result: undefined };
    });
  }

  /** Returns the marker of a folder; `undefined` if there is none. */
  async get(place: Place): Promise<FolderRecord | undefined> {
    if (await this.projects.isHidden(place)) return undefined;
    const { value } = await this.db.reader.get<FolderRecord>(keys.folder(place));
    return value ?? undefined;
  }

  /** Returns a page of the markers of a drive in the order of their names' UTF-8 bytes. */
  async list(query: ListQuery): Promise<ListPage> {
    if (await this.projects.isHidden(query)) return { entries: [], more: false };
    return await listMarkers(this.db.reader, query);
  }

  /** Removes the marker of a folder, if there is one. Files below it stay, and so do markers. */
  async delete(place: Place): Promise<void> {
    const key = keys.folder(place);
    await transact(this.db, async () => {
      this.projects.forget(place.project);
      const project = await this.projects.find(place.project);
      // The deletion of a drive removes its markers, too.
      if (project === undefined || project.deleting.includes(place.drive)) {
        return { result: undefined };
      }
      const { versionstamp } = await this.db.reader.get(key);
      if (versionstamp === null) return { result: undefined };
      const operation = new Operation().share(project.unchanged).delete(key);
      return { operation: touchDrive(operation, place), result: undefined };
    });
  }
}
