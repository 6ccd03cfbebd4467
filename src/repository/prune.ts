/**
 * Removes snapshots that no rule keeps, and then the objects that no other snapshot needs.
 *
 * Manifests go first, so a prune that is interrupted leaves no snapshot without its objects; the next one removes the rest.
 * No snapshot can be taken meanwhile (`presence.ts`). What an interrupted snapshot left stays until the next one has used
 * it. If anything cannot be read that tells what is needed, nothing is removed.
 *
 * @module
 */
import { RepositoryError } from "./errors.ts";
import type { Snapshot } from "./manifest.ts";
import { Presence, unfinishedRuns } from "./presence.ts";
import { FOLDERS, type Repository } from "./repository.ts";
import { hasRule, keptBy, type Retention } from "./retention.ts";
import { walkTree } from "./tree.ts";

export interface PruneOptions {
  retention: Retention;
  /** Whether nothing is removed. */
  isDryRun?: boolean;
  /** Receives why the prune waits. */
  onNotice?: (text: string) => void;
}

export interface PruneReport {
  kept: Snapshot[];
  removed: Snapshot[];
  /** Objects that were removed, and their bytes. */
  objects: number;
  bytes: number;
}

/** The objects that snapshots need, by their paths. */
type Needed = Set<string>;

/** Objects that are removed between two looks at other runs. */
const REMOVED_AT_ONCE = 100;

/** Prunes a repository. Without a rule nothing is removed. @throws {RepositoryError} */
export async function prune(
  repository: Repository,
  { retention, isDryRun = false, onNotice }: PruneOptions,
): Promise<PruneReport> {
  if (!hasRule(retention) || isDryRun) {
    const plan = await planPrune(repository, retention);
    return hasRule(retention) ? reportOf(plan) : { ...reportOf(plan), objects: 0, bytes: 0 };
  }
  await using presence = await Presence.begin(repository.target, "prune", onNotice);
  const plan = await planPrune(repository, retention);
  await requireSameSnapshots(repository, plan);
  const paths = [
    ...plan.removed.map(({ object }) => `${FOLDERS.snapshot}/${object}`),
    ...plan.unneeded.keys(),
  ];
  for (let at = 0; at < paths.length; at += REMOVED_AT_ONCE) {
    await presence.requireAlive();
    for (const path of paths.slice(at, at + REMOVED_AT_ONCE)) await repository.target.remove(path);
  }
  await presence.end(true);
  return reportOf(plan);
}

interface PrunePlan {
  kept: Snapshot[];
  removed: Snapshot[];
  /** The sizes of the objects that no snapshot needs, by their paths. */
  unneeded: Map<string, number>;
}

function reportOf({ kept, removed, unneeded }: PrunePlan): PruneReport {
  const bytes = unneeded.values().reduce((sum, size) => sum + size, 0);
  return { kept, removed, objects: unneeded.size, bytes };
}

async function planPrune(repository: Repository, retention: Retention): Promise<PrunePlan> {
  // Before the snapshots: what a run leaves that ends meanwhile is in one of them.
  const hasUnfinished = (await unfinishedRuns(repository.target)).size > 0;
  const snapshots = await repository.snapshots();
  const staying = keptBy(retention, snapshots);
  const kept = snapshots.filter((one) => staying.has(one));
  const removed = snapshots.filter((one) => !staying.has(one));
  const unneeded = new Map<string, number>();
  if (!hasRule(retention)) return { kept, removed, unneeded };
  const needed = await neededBy(repository, kept);
  // Only what a removed snapshot needed is certain not to be that of a run.
  const released = hasUnfinished ? await neededBy(repository, removed) : undefined;
  for (const folder of [FOLDERS.index, FOLDERS.data]) {
    for await (const { name, size } of repository.target.list(folder)) {
      if (!needed.has(name) && (released === undefined || released.has(name))) {
        unneeded.set(name, size);
      }
    }
  }
  return { kept, removed, unneeded };
}

async function neededBy(repository: Repository, snapshots: readonly Snapshot[]): Promise<Needed> {
  const needed: Needed = new Set();
  for (const { root } of snapshots) {
    const nodes = walkTree(root, repository.loadNode, {
      skips: ({ name }) => needed.has(`${FOLDERS.index}/${name}`),
      onNode: ({ name }) => needed.add(`${FOLDERS.index}/${name}`),
    });
    for await (const groups of nodes) {
      for (const { object } of groups) needed.add(`${FOLDERS.data}/${object.name}`);
    }
  }
  return needed;
}

/** A list of objects that was out of date would hide a snapshot, and so what it needs. */
async function requireSameSnapshots(
  repository: Repository,
  { kept, removed }: PrunePlan,
): Promise<void> {
  const known = new Set([...kept, ...removed].map(({ id }) => id));
  const now = await repository.snapshots();
  if (now.length === known.size && now.every(({ id }) => known.has(id))) return;
  throw new RepositoryError(
    `The snapshots in ${repository.place} changed meanwhile, so nothing was removed: prune again`,
  );
}
