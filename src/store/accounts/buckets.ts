import type { Database } from "../engine/database.ts";
import { keys } from "../engine/keys.ts";
import { Operation } from "../engine/operation.ts";
import type { ProjectCache } from "../engine/project_cache.ts";
import { transact } from "../engine/transact.ts";
import type { Actor } from "./events.ts";
import type { EmptyDriveDeletion, ProjectStore } from "./projects.ts";

/** Drives that clients create and delete explicitly, as the buckets of S3. */
export class Buckets {
  constructor(
    private readonly db: Database,
    private readonly cache: ProjectCache,
    private readonly projects: ProjectStore,
  ) {}

  /** Returns whether there is a drive with this name. It is one read. */
  async exists(project: string, drive: string): Promise<boolean> {
    if (await this.cache.isHidden({ project, drive })) return false;
    return await this.cache.hasDrive({ project, drive });
  }

  /**
   * Creates an empty drive unless there is one with this name.
   *
   * @throws {NoSuchProject}
   * @throws {BeingDeleted} if the drive is being deleted.
   */
  async create(project: string, drive: string): Promise<"created" | "exists"> {
    const counter = keys.usage(project, drive, "files");
    let tries = 0;
    return await transact<"created" | "exists">(this.db, async () => {
      if (tries++ > 0) this.cache.forget(project);
      const { unchanged } = await this.cache.requireWritable({ project, drive });
      const [files] = await this.db.reads.get<[Deno.KvU64]>([counter]);
      if (files.versionstamp !== null) return { result: "exists" };
      const operation = new Operation().share(unchanged).check(counter, null).sum(counter, 0);
      return { operation, result: "created" };
    });
  }

  /**
   * Deletes a drive unless it has a file, a folder, or a file in the trash. Its open uploads end. Every new file, folder
   * or upload changes the counter of the drive's files, which the operation checks: a write of another process is
   * committed before and prevents the deletion, or it is refused.
   */
  async deleteEmpty(project: string, drive: string, actor?: Actor): Promise<EmptyDriveDeletion> {
    return await this.projects.deleteEmptyDrive(project, drive, actor);
  }
}
