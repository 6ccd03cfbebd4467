/**
 * Makes a snapshot the store of a folder. The store is made in a folder inside of it, checked, and takes the place of the
 * earlier one with a rename. Whenever that is interrupted, the same command goes on.
 *
 * @module
 */
import { join } from "@std/path/join";
import { useGroups } from "../../../repository/data_object.ts";
import { BadFormat, DamagedObject, RepositoryError } from "../../../repository/errors.ts";
import { ByteReader } from "../../../repository/bytes.ts";
import type { Snapshot } from "../../../repository/manifest.ts";
import { FOLDERS, PARALLEL, type Repository } from "../../../repository/repository.ts";
import type { Bytes } from "../../../repository/bytes.ts";
import { walkTree } from "../../../repository/tree.ts";
import { failureReason } from "../../../rules/system_error.ts";
import { RateLimiter } from "../../../rules/concurrency.ts";
import { inUse, prepareStore, requireReplaceable, requireSpace } from "../../backup/restore.ts";
import {
  exists,
  PRIVATE_FOLDER_MODE,
  realPathOf,
  syncFile,
  syncFolder,
} from "../../disk/durable_file.ts";
import { FolderLock } from "../../disk/file_lock.ts";
import { isKept, restoreFiles } from "../../disk/kept_files.ts";
import { settleReplaced } from "../../disk/replaced_store.ts";
import { byteFilePath, databasePath, newByteFile } from "../../disk/store_files.ts";
import { CannotRestore } from "../../engine/errors.ts";
import { RestorePlan, type WantedObject } from "./restore_plan.ts";
import { SECTIONS } from "../rows.ts";
import { StagedStore } from "./staged_store.ts";

export interface SnapshotRestoreOptions {
  repository: Repository;
  snapshot: Snapshot;
  /** The store's folder. It is created if it does not exist. */
  folder: string;
  /** Whether an existing store is replaced. */
  overwrites: boolean;
  /** Bytes of the disk that must stay free. */
  reserve: number;
  /** Bytes a second; `undefined` for no limit. */
  bandwidth?: number | undefined;
  /** Receives the bytes that were read, and the bytes in all. */
  onRead?: (done: number, total: number) => void;
  /** Checks the store; throws if it must not become that of the folder. @param lost The first keys of lost groups. */
  check: (path: string, lost: readonly LostGroup[]) => Promise<void>;
}

/** A group that cannot be read. */
export interface LostGroup {
  key: Bytes;
  /** Why, as a sentence without its period. */
  reason: string;
}

/** The folder of the store that is being restored, inside the data folder. */
const STAGING = ".kvdrive-restore";

/** Objects whose rows are committed at once. */
const OBJECTS_AT_ONCE = 4;

/** Lost groups that are reported. */
const MAX_LOST = 10_000;

/**
 * Restores a snapshot.
 *
 * @returns The file of the replaced store; `undefined` if there was none.
 * @throws {CannotRestore} if it cannot be restored: nothing has changed.
 */
export async function restoreSnapshot(
  options: SnapshotRestoreOptions,
): Promise<string | undefined> {
  const { folder, repository } = options;
  try {
    await Deno.mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER_MODE });
    using lock = await FolderLock.take(folder, "exclusive");
    if (lock === undefined) throw inUse(folder);
    const path = await realPathOf(databasePath(folder));
    await settleReplaced(path);
    await requireReplaceable(path, folder, options.overwrites);
    return await new SnapshotRestore(options, path).run();
  } catch (error) {
    if (error instanceof CannotRestore || error instanceof RepositoryError) throw error;
    const reason = failureReason(error);
    throw new CannotRestore(`Cannot restore ${repository.place} to ${folder}: ${reason}`, {
      cause: error,
    });
  }
}

class SnapshotRestore {
  readonly #staging: string;
  readonly #limiter: RateLimiter | undefined;

  /** @param path The file of the store's records. */
  constructor(private readonly options: SnapshotRestoreOptions, private readonly path: string) {
    this.#staging = join(options.folder, STAGING);
    const { bandwidth } = options;
    this.#limiter = bandwidth === undefined ? undefined : new RateLimiter(bandwidth);
  }

  async run(): Promise<string | undefined> {
    const { folder, snapshot, reserve } = this.options;
    if (!await exists(this.#staging)) await requireSpace(snapshot.size, folder, reserve);
    using plan = await this.#openPlan();
    if (plan.get("stage") !== "checked") {
      const { done, total } = plan.progress();
      const share = total === 0 ? 1 : 1 - done / total;
      await requireSpace(Math.round(snapshot.size * share), folder, reserve);
      await this.#make(plan);
    }
    return await this.#publish(plan);
  }

  /** Returns the plan of an interrupted restore of the same snapshot, or a new one. */
  async #openPlan(): Promise<RestorePlan> {
    const { snapshot } = this.options;
    const path = join(this.#staging, "plan.db");
    if (await exists(path)) {
      const plan = RestorePlan.open(path);
      if (plan.get("snapshot") === snapshot.id) return plan;
      plan[Symbol.dispose]();
    }
    await this.#removeStaging();
    await Deno.mkdir(this.#staging, { mode: PRIVATE_FOLDER_MODE });
    const plan = RestorePlan.open(path);
    plan.set("byte_file", newByteFile());
    plan.set("stage", "planning");
    plan.set("snapshot", snapshot.id);
    return plan;
  }

  async #removeStaging(): Promise<void> {
    await Deno.remove(this.#staging, { recursive: true }).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }

  async #make(plan: RestorePlan): Promise<void> {
    const { snapshot, check } = this.options;
    const byteFile = plan.get("byte_file") ?? "";
    {
      using store = await StagedStore.open(this.#staging, byteFile);
      await this.#readSnapshot(plan, store);
      store.finish(snapshot, byteFile);
    }
    const path = databasePath(this.#staging);
    try {
      const lost = plan.lost().take(MAX_LOST).toArray();
      await check(path, lost);
    } catch (error) {
      await this.#removeStaging();
      throw error;
    }
    await syncFile(path);
    await syncFile(byteFilePath(path, byteFile));
    plan.set("stage", "checked");
  }

  /** Reads all objects. If a prune rewrites some of them meanwhile, what is missing is read from the new ones. */
  async #readSnapshot(plan: RestorePlan, store: StagedStore): Promise<void> {
    let { snapshot } = this.options;
    while (true) {
      await this.#plan(snapshot, plan);
      await this.#readObjects(plan, store);
      if (!plan.hasLost) return;
      const current = await this.#current();
      if (current.object === snapshot.object) return;
      snapshot = current;
    }
  }

  async #plan(snapshot: Snapshot, plan: RestorePlan): Promise<void> {
    if (plan.get("stage") !== "planning" && plan.get("manifest") === snapshot.object) return;
    plan.set("stage", "planning");
    await plan.add(walkTree(snapshot.root, this.options.repository.loadNode, {
      onError: (error, key = new Uint8Array()) => {
        if (!(error instanceof DamagedObject)) throw error;
        plan.addLost(key, error.message);
      },
    }));
    plan.set("manifest", snapshot.object);
    plan.set("stage", "reading");
  }

  /** Returns the valid manifest of the snapshot. @throws {CannotRestore} if the snapshot was removed. */
  async #current(): Promise<Snapshot> {
    const { repository, snapshot: { id } } = this.options;
    const snapshots = await repository.snapshots(() => {});
    const current = snapshots.find((one) => one.id === id);
    if (current !== undefined) return current;
    throw new CannotRestore(
      `The snapshot ${id} was removed from ${repository.place} while it was restored: choose ` +
        "another one",
    );
  }

  async #readObjects(plan: RestorePlan, store: StagedStore): Promise<void> {
    const { onRead } = this.options;
    let { done, total } = plan.progress();
    let last = 0;
    while (true) {
      const objects = plan.unread(last, OBJECTS_AT_ONCE);
      if (objects.length === 0) return;
      store.begin();
      const waiting = [...objects];
      const work = async () => {
        for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
          await this.#limiter?.take(one.size);
          await this.#readObject(one, plan, store);
          onRead?.(done += one.size, total);
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, work));
      store.commit();
      plan.markRead(objects);
      last = objects.at(-1)?.id ?? last;
    }
  }

  async #readObject(object: WantedObject, plan: RestorePlan, store: StagedStore): Promise<void> {
    const { repository } = this.options;
    const wanted = plan.groupsOf(object);
    const path = `${FOLDERS.data}/${object.name}`;
    const useAll = (groups: readonly Bytes[]) => {
      for (const { ordinal, key } of wanted) {
        const group = groups[ordinal];
        const [section = 0] = key;
        if (group === undefined) plan.addLost(key, `The object ${path} lacks a group`);
        else if (section === SECTIONS.keptFiles) keepFile(group, plan);
        else store.addGroup(section, group);
      }
    };
    try {
      const bytes = await repository.read("data", object.name);
      await useGroups(bytes, repository.sealer, useAll);
    } catch (error) {
      const isDamaged = error instanceof DamagedObject || error instanceof BadFormat;
      if (!isDamaged) throw error;
      const reason = error instanceof BadFormat
        ? `The object ${path} ${error.message}`
        : error.message;
      for (const { key } of wanted) plan.addLost(key, reason);
    }
  }

  async #publish(plan: RestorePlan): Promise<string | undefined> {
    const { folder } = this.options;
    const path = this.path;
    const staged = databasePath(this.#staging);
    const byteFile = plan.get("byte_file") ?? "";
    await restoreFiles(folder, plan.kept());
    await prepareStore(path, folder);
    const bytes = byteFilePath(path, byteFile);
    // It has a name that no other store uses.
    if (!await exists(bytes)) await Deno.rename(byteFilePath(staged, byteFile), bytes);
    await syncFolder(folder);
    let replaced: string | undefined;
    try {
      await Deno.rename(staged, path);
      await syncFolder(folder);
    } finally {
      replaced = await settleReplaced(path);
    }
    plan[Symbol.dispose]();
    await this.#removeStaging();
    return replaced;
  }
}

function keepFile(group: Bytes, plan: RestorePlan): void {
  const reader = new ByteReader(group);
  const name = new TextDecoder().decode(reader.sized());
  const content = reader.sized();
  if (isKept(name)) plan.keep(name, content);
}
