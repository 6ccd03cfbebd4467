/**
 * Runs snapshots and prunes in random order, kills some of them at a random write, and compares with a model: each snapshot
 * in the list has the content of its moment.
 */
import { assert, assertEquals } from "@std/assert";
import { checkRepository } from "../../repository/check.ts";
import { readGroups } from "../../repository/data_object.ts";
import { GroupSender } from "../../repository/group_sender.ts";
import { newSnapshotId } from "../../repository/manifest.ts";
import { Presence } from "../../repository/presence.ts";
import { prune } from "../../repository/prune.ts";
import { Repository } from "../../repository/repository.ts";
import type { Bytes } from "../../repository/bytes.ts";
import type { Target } from "../../repository/targets/target.ts";
import { fingerprintOf, TreeBuilder, walkTree } from "../../repository/tree.ts";
import { KnownGroups } from "./known_groups.ts";

const ROUNDS = 20;
const GROUPS = 600;
const GROUP_SIZE = 8000;

class Killed extends Error {}

/** A target in memory whose user can be killed after some writes. */
class MemoryTarget implements Target {
  readonly place = "memory";
  readonly objects = new Map<string, Bytes>();
  writesLeft = Infinity;

  prepare(): Promise<void> {
    return Promise.resolve();
  }

  topNames(): Promise<string[]> {
    return Promise.resolve([]);
  }

  get(name: string, limit?: number): Promise<Bytes | undefined> {
    const found = this.objects.get(name);
    return Promise.resolve(limit === undefined ? found?.slice() : found?.slice(-limit));
  }

  async put(name: string, bytes: Bytes): Promise<boolean> {
    await this.#write(() => this.objects.set(name, bytes.slice()));
    return true;
  }

  async *list(folder: string): AsyncGenerator<{ name: string; size: number }> {
    const names = [...this.objects.keys()].filter((name) => name.startsWith(`${folder}/`));
    for (const name of names.sort()) yield { name, size: this.objects.get(name)?.byteLength ?? 0 };
  }

  async remove(name: string): Promise<void> {
    await this.#write(() => this.objects.delete(name));
  }

  #write(work: () => void): Promise<void> {
    if (this.writesLeft-- <= 0) return Promise.reject(new Killed());
    work();
    return Promise.resolve();
  }
}

/** The versions of the groups of a store; 0 if there is no such group. */
type Content = readonly number[];

function keyOf(group: number): Bytes {
  return new TextEncoder().encode(`\x02key-${String(group).padStart(4, "0")}`);
}

function bytesOf(group: number, version: number): Bytes {
  const bytes = new Uint8Array(GROUP_SIZE).fill(version);
  new DataView(bytes.buffer).setUint32(0, group);
  return bytes;
}

/** Takes a snapshot as `takeSnapshot` does. */
async function snapshot(repository: Repository, content: Content, id: string): Promise<void> {
  await using presence = await Presence.begin(repository.target, "write");
  const earlier = await presence.earlierRuns();
  const parent = (await repository.snapshots()).at(-1);
  const known = await KnownGroups.open(repository, parent, earlier.unfinished.size > 0);
  const sender = new GroupSender(repository);
  const tree = new TreeBuilder(async (_, fingerprint, bytes) =>
    known.node(fingerprint) ?? await sender.sendNode(bytes)
  );
  for (const [group, version] of content.entries()) {
    if (version === 0) continue;
    const [key, bytes] = [keyOf(group), bytesOf(group, version)];
    const fingerprint = fingerprintOf(bytes);
    const found = await known.find(key, fingerprint);
    const write = (to: { bytes: (piece: Uint8Array) => void }) => to.bytes(bytes);
    const isCompressed = group % 10 === 0;
    tree.add(key, found ?? (await sender.add({ key, fingerprint, isCompressed, write })).entry);
  }
  await sender.finish();
  const root = await tree.finish();
  assert(root !== undefined);
  const sequence = 1 + (parent?.sequence ?? 0);
  const info = { files: 1, bytes: 1, size: 1, added: 1, damaged: [], format: 1 };
  const { store } = repository.config;
  const commits = { records: 1, bytes: 1 };
  const manifest = { id, sequence, revision: 0, time: sequence, store, commits, root, ...info };
  await presence.publish(async () => [`snapshots/${(await sender.sendManifest(manifest)).name}`]);
  await presence.forgetDead(earlier);
  await presence.end(true);
}

/** Compares all snapshots with the model. Returns their ids. */
async function compare(
  repository: Repository,
  model: ReadonlyMap<string, Content>,
): Promise<string[]> {
  const objects = new Map<string, readonly Bytes[]>();
  const groupIn = async (name: string, ordinal: number) => {
    if (!objects.has(name)) {
      objects.set(name, await readGroups(await repository.read("data", name), repository.sealer));
    }
    return objects.get(name)?.[ordinal];
  };
  const snapshots = await repository.snapshots();
  for (const { id, root } of snapshots) {
    const content = model.get(id);
    assert(content !== undefined);
    const wanted = content.entries().filter(([, version]) => version > 0).toArray();
    const found = (await Array.fromAsync(walkTree(root, repository.loadNode))).flat();
    assertEquals(found.map(({ key }) => key), wanted.map(([group]) => keyOf(group)));
    for (const [i, [group, version]] of wanted.entries()) {
      const entry = found[i]!;
      const bytes = await groupIn(entry.object.name, entry.ordinal);
      // Not `assertEquals`, which is slow.
      assert(bytes !== undefined && bytes.every((byte, at) => at < 4 || byte === version));
      assertEquals(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0), group);
    }
  }
  return snapshots.map(({ id }) => id);
}

/** Returns a function that returns whole numbers below a limit. */
function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor(state / 2 ** 32 * limit);
  };
}

/** A repository, its model, and processes that work on it one after the other. */
class History {
  readonly target = new MemoryTarget();
  readonly #model = new Map<string, Content>();
  #content: Content = new Array<number>(GROUPS).fill(1);

  constructor(
    private readonly folder: string,
    private readonly below: (limit: number) => number,
  ) {}

  /** Opens the repository. The processes before are dead, and count as such. */
  async open(): Promise<Repository> {
    this.target.writesLeft = Infinity;
    for (const name of this.target.objects.keys()) {
      if (name.startsWith("locks/")) this.target.objects.delete(name);
    }
    return Object.assign(await Repository.open({ target: this.folder }), { target: this.target });
  }

  /** Returns the ids of the snapshots that a list shows, after each was compared with the model. */
  async ids(): Promise<string[]> {
    const { problems } = await checkRepository(await this.open(), { readAll: true });
    assertEquals(problems, new Map());
    return await compare(await this.open(), this.#model);
  }

  async snapshot(): Promise<void> {
    const { below } = this;
    const before = await this.ids();
    const [share, version] = [1 + below(100), 2 + below(200)];
    this.#content = this.#content.map((old, group) => {
      if (group === 0) return version;
      if (below(100) >= share) return old;
      return below(10) === 0 ? 0 : version;
    });
    const [id, content] = [newSnapshotId(), this.#content];
    this.#model.set(id, content);
    const isDone = await this.#run((repository) => snapshot(repository, content, id));
    const after = await this.ids();
    assertEquals(after.slice(0, before.length), before);
    if (isDone) assertEquals(after.at(-1), id);
  }

  async prune(): Promise<void> {
    const before = await this.ids();
    const last = 1 + this.below(3);
    const isDone = await this.#run((repository) => prune(repository, { retention: { last } }));
    const after = await this.ids();
    assertEquals(after.slice(-last), before.slice(-last));
    if (isDone) assertEquals(after, before.slice(-last));
  }

  /** Fails if more is stored than is needed, once nothing is unfinished. */
  async assertTidy(): Promise<void> {
    const [id, content] = [newSnapshotId(), this.#content];
    this.#model.set(id, content);
    await snapshot(await this.open(), content, id);
    await prune(await this.open(), { retention: { last: 1 } });
    assertEquals(await this.ids(), [id]);
    const sizes = this.target.objects.entries().filter(([name]) => name.startsWith("data/"));
    const stored = sizes.reduce((sum, [, { byteLength }]) => sum + byteLength, 0);
    const needed = GROUP_SIZE * content.filter((version) => version > 0).length;
    // Objects of which half is needed stay.
    assert(stored < 2.1 * needed, `${stored} ${needed}`);
  }

  /** Lets a process work, and kills it now and then. Returns whether it came to its end. */
  async #run(work: (repository: Repository) => Promise<unknown>): Promise<boolean> {
    const repository = await this.open();
    if (this.below(2) === 0) this.target.writesLeft = this.below(30);
    try {
      await work(repository);
      return true;
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      return false;
    }
  }
}

Deno.test("snapshots and prunes that are killed at any write leave what lists show whole", async () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  const below = randomOf(seed);
  const folder = await Deno.makeTempDir();
  try {
    await Repository.openFor(crypto.randomUUID(), { target: `${folder}/repository` });
    const history = new History(`${folder}/repository`, below);
    for (let round = 0; round < ROUNDS; round++) {
      await (below(3) > 0 ? history.snapshot() : history.prune());
    }
    await history.assertTidy();
  } catch (error) {
    throw new Error(`with the seed ${seed}`, { cause: error });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
