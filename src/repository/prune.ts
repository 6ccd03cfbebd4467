/**
 * Removes snapshots that no rule keeps, and then the objects that no other snapshot needs. Before that, objects of which
 * little is needed are rewritten (`repack.ts`).
 *
 * Manifests go first, so a prune that is interrupted leaves no snapshot without its objects; the next one removes the rest.
 * No snapshot can be taken meanwhile (`presence.ts`). What an interrupted snapshot left stays until the next one has used
 * it. If anything cannot be read that tells what is needed, nothing is removed.
 *
 * @module
 */
import { SECOND } from "../rules/units.ts";
import { DamagedObject, RepositoryError } from "./errors.ts";
import type { Snapshot } from "./manifest.ts";
import { Presence, unfinishedRuns } from "./presence.ts";
import { type NeededObject, repack, sparseObjects } from "./repack.ts";
import { FOLDERS, type Repository, validOf } from "./repository.ts";
import { hasRule, keptBy, type Retention } from "./retention.ts";
import { walkTree } from "./tree.ts";

export interface PruneOptions {
  retention: Retention;
  /** Whether nothing is removed. */
  isDryRun?: boolean;
  /** Bytes a second of objects that are rewritten; `undefined` for no limit. */
  bandwidth?: number | undefined;
  /** After how many milliseconds no further object is rewritten, as snapshots wait meanwhile. */
  patience?: number;
  /** Receives why the prune waits. */
  onNotice?: (text: string) => void;
}

export interface PruneReport {
  kept: Snapshot[];
  removed: Snapshot[];
  /** Objects that were removed. */
  objects: number;
  /** The bytes by which the repository is smaller; in a dry run about that. */
  bytes: number;
}

/** What snapshots need. */
interface Needed {
  /** Names of nodes. */
  nodes: Set<string>;
  /** Objects of data by their names. */
  data: Map<string, NeededObject>;
}

/** For how many milliseconds objects are removed without a look at other runs. */
const LOOK_INTERVAL = 2 * SECOND;

/** Prunes a repository. Without a rule nothing is removed. @throws {RepositoryError} */
export async function prune(
  repository: Repository,
  { retention, isDryRun = false, bandwidth, patience = Infinity, onNotice }: PruneOptions,
): Promise<PruneReport> {
  if (!hasRule(retention)) {
    return { kept: await repository.snapshots(), removed: [], objects: 0, bytes: 0 };
  }
  if (isDryRun) {
    const plan = await planPrune(repository, retention);
    return reportOf(plan, plan.sparse.reduce((sum, { free }) => sum + Math.round(free), 0));
  }
  await using presence = await Presence.begin(repository.target, "prune", onNotice);
  let plan = await planPrune(repository, retention);
  const { kept, sparse } = plan;
  const end = performance.now() + patience;
  const sent = await repack(repository, {
    kept,
    sparse,
    bandwidth,
    isOver: () => performance.now() > end,
    presence,
  });
  if (sent.bytes > 0) {
    plan = await planPrune(repository, retention);
    requireListed(repository, plan, sent.manifests);
  }
  await removeUnneeded(repository, plan, presence);
  await presence.end(true);
  return reportOf(plan, -sent.bytes);
}

async function removeUnneeded(
  repository: Repository,
  plan: PrunePlan,
  presence: Presence,
): Promise<void> {
  const { removed, replaced, unneeded } = plan;
  const manifests = [...removed, ...replaced].map(({ object }) => `${FOLDERS.snapshot}/${object}`);
  await requireSameManifests(repository, plan);
  let looked = -Infinity;
  for (const path of [...manifests, ...unneeded.keys()]) {
    if (performance.now() - looked > LOOK_INTERVAL) {
      await presence.requireAlive();
      looked = performance.now();
    }
    await repository.target.remove(path);
  }
}

interface PrunePlan {
  kept: Snapshot[];
  removed: Snapshot[];
  /** Manifests that others have replaced. */
  replaced: Snapshot[];
  sparse: ReturnType<typeof sparseObjects>;
  /** The sizes of the objects that no snapshot needs, by their paths. */
  unneeded: Map<string, number>;
}

/** @param more Bytes that come free besides those of the removed objects. */
function reportOf({ kept, removed, unneeded }: PrunePlan, more: number): PruneReport {
  const bytes = unneeded.values().reduce((sum, size) => sum + size, more);
  return { kept, removed, objects: unneeded.size, bytes };
}

async function planPrune(repository: Repository, retention: Retention): Promise<PrunePlan> {
  // Before the snapshots: what a run leaves that ends meanwhile is in one of them.
  const hasUnfinished = (await unfinishedRuns(repository.target)).size > 0;
  const manifests = await repository.manifests(({ message }) => {
    throw new RepositoryError(
      `${message}. So it is not known what a snapshot needs, and nothing was removed: restore it from ` +
        "a copy of the repository, or remove it to give its snapshot up",
    );
  });
  const snapshots = validOf(manifests);
  const staying = keptBy(retention, snapshots);
  const kept = snapshots.filter((one) => staying.has(one));
  const removed = snapshots.filter((one) => !staying.has(one));
  const replaced = manifests.filter((one) => !snapshots.includes(one));
  const { needed, damage } = await neededBy(repository, kept);
  requireReadable(damage);
  // Only what a removed snapshot needed is certain not to be that of a run. What cannot be read there stays for now.
  const released = hasUnfinished
    ? (await neededBy(repository, [...removed, ...replaced])).needed
    : undefined;
  const unneeded = new Map<string, number>();
  for (const [folder, part] of [[FOLDERS.index, "nodes"], [FOLDERS.data, "data"]] as const) {
    for await (const { name: path, size } of repository.target.list(folder)) {
      const name = path.slice(folder.length + 1);
      if (!needed[part].has(name) && (released?.[part].has(name) ?? true)) unneeded.set(path, size);
    }
  }
  return { kept, removed, replaced, sparse: sparseObjects(needed.data), unneeded };
}

/** Returns what snapshots need, and for each one with a node that cannot be read why. */
async function neededBy(
  repository: Repository,
  snapshots: readonly Snapshot[],
): Promise<{ needed: Needed; damage: DamagedObject[] }> {
  const needed: Needed = { nodes: new Set(), data: new Map() };
  const damage = new Map<Snapshot, DamagedObject>();
  for (const snapshot of snapshots) {
    const nodes = walkTree(snapshot.root, repository.loadNode, {
      skips: ({ name }) => needed.nodes.has(name),
      onNode: ({ name }) => needed.nodes.add(name),
      onError(error) {
        if (!(error instanceof DamagedObject)) throw error;
        damage.set(snapshot, error);
      },
    });
    for await (const groups of nodes) {
      for (const { object: { name, size }, ordinal } of groups) {
        const known = needed.data.get(name)?.groups ?? 0n;
        needed.data.set(name, { size, groups: known | 1n << BigInt(ordinal) });
      }
    }
  }
  return { needed, damage: [...damage.values()] };
}

/** @throws {RepositoryError} if a node is damaged: what is below it is not known. */
function requireReadable([first, ...others]: readonly DamagedObject[]): void {
  if (first === undefined) return;
  const need = others.length === 0 ? "a snapshot needs" : `${others.length + 1} snapshots need`;
  throw new RepositoryError(
    `${first.message}. So it is not known what ${need}, and nothing was removed: restore it from a ` +
      "copy of the repository, or remove the manifests that kvdrive backup check names",
  );
}

/** @throws {RepositoryError} if a list of manifests is older than what was stored: the new objects would seem unneeded. */
function requireListed(
  { place }: Repository,
  { kept }: PrunePlan,
  objects: readonly string[],
): void {
  const listed = new Set(kept.map(({ object }) => object));
  if (objects.every((object) => listed.has(object))) return;
  throw new RepositoryError(
    `${place} does not list what was stored in it, so nothing was removed: prune again later`,
  );
}

/** A list of objects that was out of date would hide a snapshot, and so what it needs. */
async function requireSameManifests(
  repository: Repository,
  { kept, removed, replaced }: PrunePlan,
): Promise<void> {
  const known = new Set([...kept, ...removed, ...replaced].map(({ object }) => object));
  const now = await repository.manifests();
  if (now.length === known.size && now.every(({ object }) => known.has(object))) return;
  throw new RepositoryError(
    `The snapshots in ${repository.place} changed meanwhile, so nothing was removed: prune again`,
  );
}
