/**
 * Rewrites data objects of which little is needed, so that a prune can remove them.
 *
 * What is needed of them is sent again in new objects. Then the nodes are sent that lead there, and last the manifests:
 * each has the id of its snapshot and a greater revision, so it is valid from then on. Nothing is removed here, so an
 * interruption at any moment leaves snapshots that are whole.
 *
 * @module
 */
import type { ByteWriter } from "./bytes.ts";
import { type DataObject, SLACK, useObject } from "./data_object.ts";
import { BadFormat, DamagedObject } from "./errors.ts";
import { GroupSender } from "./group_sender.ts";
import type { Manifest, Snapshot } from "./manifest.ts";
import type { Presence } from "./presence.ts";
import { FOLDERS, type Repository } from "./repository.ts";
import {
  encodeNode,
  fingerprintOf,
  type ObjectRef,
  type TreeEntry,
  type TreeNode,
  type TreeRoot,
} from "./tree.ts";

/** The share of an object from which on it stays as it is. */
const NEEDED_SHARE = 0.5;

/** The share of all data that has to come free, as each time all trees are read. */
const WORTHWHILE = 0.02;

/** Groups that move at once, at most: they take some 50 MB of memory. The next prune goes on. */
const MOVED_AT_ONCE = 500_000;

/** What snapshots need of a data object. */
export interface NeededObject {
  size: number;
  /** The bits of the places of groups that are needed. */
  groups: bigint;
}

/** An object that is to be rewritten. */
interface Sparse extends ObjectRef {
  groups: bigint;
  /** About how many bytes come free. */
  free: number;
}

export interface RepackOptions {
  /** The snapshots that stay. */
  kept: readonly Snapshot[];
  sparse: readonly Sparse[];
  /** Bytes a second; `undefined` for no limit. */
  bandwidth?: number | undefined;
  /** Returns whether to leave further objects to the next prune. */
  isOver: () => boolean;
  /** The run of the prune. */
  presence: Pick<Presence, "publish">;
}

/** Returns the objects that are worth rewriting. @param needed What snapshots need of each object, by its name. */
export function sparseObjects(needed: ReadonlyMap<string, NeededObject>): Sparse[] {
  const sparse: Sparse[] = [];
  let total = 0;
  for (const [name, { size, groups }] of needed) {
    total += size;
    const share = neededShare(size, groups);
    if (share < NEEDED_SHARE) sparse.push({ name, size, groups, free: size * (1 - share) });
  }
  const free = sparse.reduce((sum, { free }) => sum + free, 0);
  return free < WORTHWHILE * total ? [] : sparse;
}

/** Returns at most how much of an object is needed, without a look at it. */
function neededShare(size: number, groups: bigint): number {
  const bits = groups.toString(2);
  const count = bits.replaceAll("0", "").length;
  return Math.min(count / bits.length, count * SLACK / size);
}

/** Where a group is. */
type GroupPlace = Pick<TreeEntry, "object" | "ordinal">;

/** What was sent. */
export interface Repacked {
  bytes: number;
  /** The objects of the manifests. */
  manifests: string[];
}

/** Rewrites objects. */
export async function repack(
  repository: Repository,
  { kept, sparse, bandwidth, isOver, presence }: RepackOptions,
): Promise<Repacked> {
  const sender = new GroupSender(repository, bandwidth);
  const moved = await moveGroups(repository, sender, sparse, isOver);
  if (moved.size === 0) return { bytes: 0, manifests: [] };
  const rewrite = treeRewriter(repository, sender, moved);
  const rewritten: Manifest[] = [];
  for (const { object: _, ...manifest } of kept) {
    const root = await rewrite(manifest.root);
    if (root.object.name === manifest.root.object.name) continue;
    rewritten.push({ ...manifest, root, revision: manifest.revision + 1 });
  }
  const manifests: string[] = [];
  await presence.publish(async () => {
    for (const manifest of rewritten) manifests.push((await sender.sendManifest(manifest)).name);
    return manifests.map((name) => `${FOLDERS.snapshot}/${name}`);
  });
  return { bytes: sender.sent, manifests };
}

/** Where the groups of objects are now, by the name of the object and their place in it. */
type Moved = ReadonlyMap<string, readonly GroupPlace[]>;

/** Sends groups again. */
async function moveGroups(
  repository: Repository,
  sender: GroupSender,
  sparse: readonly Sparse[],
  isOver: () => boolean,
): Promise<Moved> {
  const moved = new Map<string, GroupPlace[]>();
  let count = 0;
  for (const { name, groups: needed } of sparse) {
    if (isOver() || count > MOVED_AT_ONCE) break;
    const places: GroupPlace[] = [];
    const send = async ({ isCompressed, groups }: DataObject) => {
      for (const [place, { fingerprint, bytes }] of groups.entries()) {
        if ((needed >> BigInt(place) & 1n) === 0n) continue;
        count++;
        const write = (to: ByteWriter) => to.bytes(bytes);
        // The sender needs the fingerprint longer than the object lasts.
        const group = { key: NO_KEY, fingerprint: fingerprint.slice(), isCompressed, write };
        const { entry } = await sender.add(group);
        // `finish` throws what goes wrong.
        entry.then(({ object, ordinal }) => places[place] = { object, ordinal }, () => {});
      }
    };
    if (await useIntact(repository, name, send)) moved.set(name, places);
  }
  await sender.finish();
  return moved;
}

/** Groups that move keep the keys in their trees. */
const NO_KEY = new Uint8Array();

/** Returns whether an object could be read: a check reports one that is damaged, and it stays as it is. */
async function useIntact(
  repository: Repository,
  name: string,
  use: (content: DataObject) => Promise<void>,
): Promise<boolean> {
  try {
    await useObject(await repository.read("data", name), repository.sealer, use);
    return true;
  } catch (error) {
    if (error instanceof DamagedObject || error instanceof BadFormat) return false;
    throw error;
  }
}

/** Returns a function that sends the nodes of a tree again whose groups moved. Nodes that trees share are sent once. */
function treeRewriter(
  { loadNode }: Repository,
  sender: GroupSender,
  moved: Moved,
): (root: TreeRoot) => Promise<TreeRoot> {
  type Node = Pick<TreeEntry, "fingerprint" | "object">;
  const done = new Map<string, Node>();
  const rewriteNode = async (node: Node, level: number): Promise<Node> => {
    const { entries } = await loadNode(node.object, level);
    const rewritten: TreeEntry[] = [];
    for (const entry of entries) {
      const change = level === 0
        ? moved.get(entry.object.name)?.[entry.ordinal]
        : await rewrite(entry, level - 1);
      rewritten.push({ ...entry, ...change });
    }
    const isSame = rewritten.every(({ object, ordinal }, i) =>
      object.name === entries[i]?.object.name && ordinal === entries[i].ordinal
    );
    return isSame ? node : await sendNode(sender, { level, entries: rewritten });
  };
  const rewrite = async ({ fingerprint, object }: Node, level: number): Promise<Node> => {
    const known = done.get(object.name);
    if (known !== undefined) return known;
    const rewritten = await rewriteNode({ fingerprint, object }, level);
    done.set(object.name, rewritten);
    return rewritten;
  };
  return async (root) => ({ ...await rewrite(root, root.level), level: root.level });
}

async function sendNode(
  sender: GroupSender,
  node: TreeNode,
): Promise<Pick<TreeEntry, "fingerprint" | "object">> {
  const bytes = encodeNode(node);
  return { fingerprint: fingerprintOf(bytes), object: await sender.sendNode(bytes) };
}
