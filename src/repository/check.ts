/**
 * Checks that a repository has every object that its snapshots need, with the right size, or with the right bytes, and
 * that its keys are not damaged.
 *
 * @module
 */
import { useGroups } from "./data_object.ts";
import { BadFormat, DamagedObject } from "./errors.ts";
import { readKeys } from "./keys.ts";
import type { Snapshot } from "./manifest.ts";
import { FOLDERS, PARALLEL, type Repository } from "./repository.ts";
import type { ObjectRef } from "./tree.ts";
import { walkTree } from "./tree.ts";

export interface CheckOptions {
  /** Whether all objects are read. */
  readAll: boolean;
  /** Waits until an object may be read. */
  pace?: (bytes: number) => Promise<void>;
  /** Receives the bytes that were read, and those of all objects. */
  onRead?: (done: number, total: number) => void;
}

export interface CheckReport {
  /** Those whose manifests can be read. */
  snapshots: Snapshot[];
  /** The objects of data that they need, and their bytes. */
  objects: number;
  bytes: number;
  /** What is wrong, as sentences without a period, by the path of the object. */
  problems: Map<string, string>;
}

/**
 * Checks all snapshots. Those that a prune removes meanwhile do not count.
 *
 * @throws {RepositoryError} if the target cannot be read.
 */
export async function checkRepository(
  repository: Repository,
  { readAll, pace, onRead }: CheckOptions,
): Promise<CheckReport> {
  const plan = await planCheck(repository);
  const { needed, problems } = plan;
  const note = ({ object, message }: DamagedObject) => problems.set(object, message);
  await compareSizes(repository, needed, note);
  const bytes = needed.values().reduce((sum, size) => sum + size, 0);
  if (readAll) {
    const objects = [...needed].map(([name, size]) => ({ name, size }));
    let done = 0;
    const work = async () => {
      for (let object = objects.shift(); object !== undefined; object = objects.shift()) {
        if (problems.has(`${FOLDERS.data}/${object.name}`)) continue;
        await pace?.(object.size);
        await readObject(repository, object, note);
        onRead?.(done += object.size, bytes);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, work));
  }
  const left = problems.size === 0 ? plan : await afterPrune(repository, plan);
  return { snapshots: left.snapshots, problems: left.problems, objects: needed.size, bytes };
}

/** What is to be checked, and what was found wrong with the trees. */
interface CheckPlan extends Pick<CheckReport, "snapshots" | "problems"> {
  /** The sizes of the objects of data, by their names. */
  needed: Map<string, number>;
}

async function planCheck(repository: Repository): Promise<CheckPlan> {
  const problems = new Map<string, string>();
  const note = ({ object, message }: DamagedObject) => problems.set(object, message);
  if (repository.config.encrypted) {
    for (const damage of (await readKeys(repository.target)).damaged) note(damage);
  }
  const snapshots = await repository.snapshots(note);
  const needed = new Map<string, number>();
  const visited = new Set<string>();
  for (const { root } of snapshots) {
    const nodes = walkTree(root, repository.loadNode, {
      skips: ({ name }) => visited.has(name),
      onNode: ({ name }) => visited.add(name),
      onError(error) {
        if (!(error instanceof DamagedObject)) throw error;
        note(error);
      },
    });
    for await (const groups of nodes) {
      for (const { object: { name, size } } of groups) needed.set(name, size);
    }
  }
  return { snapshots, needed, problems };
}

/** Returns what is wrong with the snapshots that are left, in the objects that they need by now. */
async function afterPrune(repository: Repository, plan: CheckPlan): Promise<CheckPlan> {
  const now = await planCheck(repository);
  await compareSizes(repository, now.needed, ({ object, message }) => {
    now.problems.set(object, message);
  });
  const checked = new Set(plan.snapshots.map(({ id }) => id));
  const folder = `${FOLDERS.data}/`;
  for (const [path, message] of plan.problems) {
    const isNeeded = path.startsWith(folder) && now.needed.has(path.slice(folder.length));
    if (isNeeded) now.problems.set(path, message);
  }
  const snapshots = now.snapshots.filter(({ id }) => checked.has(id));
  return { ...now, snapshots };
}

async function compareSizes(
  { target }: Repository,
  needed: ReadonlyMap<string, number>,
  note: (error: DamagedObject) => void,
): Promise<void> {
  const missing = new Map(needed);
  for await (const { name: path, size } of target.list(FOLDERS.data)) {
    const name = path.slice(FOLDERS.data.length + 1);
    const wanted = missing.get(name);
    missing.delete(name);
    if (wanted === undefined || wanted === size) continue;
    note(new DamagedObject(path, `is damaged: it has ${size} bytes instead of ${wanted}`));
  }
  for (const name of missing.keys()) {
    note(new DamagedObject(`${FOLDERS.data}/${name}`, "is missing"));
  }
}

async function readObject(
  repository: Repository,
  { name }: ObjectRef,
  note: (error: DamagedObject) => void,
): Promise<void> {
  try {
    const bytes = await repository.read("data", name);
    await useGroups(bytes, repository.sealer, () => {});
  } catch (error) {
    if (error instanceof BadFormat) {
      note(new DamagedObject(`${FOLDERS.data}/${name}`, error.message));
    } else if (error instanceof DamagedObject) note(error);
    else throw error;
  }
}
