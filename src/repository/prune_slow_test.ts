import { assert, assertEquals, assertRejects } from "@std/assert";
import { checkRepository } from "./check.ts";
import { readGroups } from "./data_object.ts";
import { RepositoryError } from "./errors.ts";
import { GroupSender } from "./group_sender.ts";
import { newSnapshotId } from "./manifest.ts";
import { prune } from "./prune.ts";
import { Repository } from "./repository.ts";
import type { Target } from "./targets/target.ts";
import { fingerprintOf, TreeBuilder, type TreeEntry, walkTree } from "./tree.ts";

/** Groups of a snapshot: some objects have 20 of them. */
const GROUPS = 60;
const GROUP_SIZE = 100_000;

const LAST = { retention: { last: 2 } };

/** A store whose groups get new contents from one snapshot to the next. */
class Store {
  readonly #versions = new Array<number>(GROUPS).fill(0);
  #known = new Map<string, TreeEntry>();
  #sequence = 0;

  constructor(private readonly repository: Repository) {}

  /** @param isChanged Which groups change first. */
  async snapshot(isChanged: (group: number) => boolean): Promise<void> {
    const { repository } = this;
    const sender = new GroupSender(repository);
    const tree = new TreeBuilder((_, __, bytes) => sender.sendNode(bytes));
    const sent: Promise<TreeEntry>[] = [];
    for (const group of this.#versions.keys()) {
      if (isChanged(group)) this.#versions[group]!++;
      const version = this.#versions[group] ?? 0;
      const bytes = new Uint8Array(GROUP_SIZE).fill(version);
      bytes[0] = group;
      const key = Uint8Array.of(2, group);
      const fingerprint = fingerprintOf(bytes);
      const known = this.#known.get(fingerprint.toString());
      const write = (to: { bytes: (piece: Uint8Array) => void }) => to.bytes(bytes);
      const entry = known ??
        (await sender.add({ key, fingerprint, isCompressed: false, write })).entry;
      tree.add(key, entry);
      sent.push(Promise.resolve(entry));
    }
    await sender.finish();
    for (const entry of await Promise.all(sent)) {
      this.#known.set(entry.fingerprint.toString(), entry);
    }
    const root = await tree.finish();
    assert(root !== undefined);
    await sender.sendManifest({
      id: newSnapshotId(),
      sequence: this.#sequence++,
      revision: 0,
      time: this.#sequence,
      store: repository.config.store,
      format: 1,
      files: GROUPS,
      bytes: GROUPS * GROUP_SIZE,
      size: GROUPS * GROUP_SIZE,
      added: sender.sent,
      damaged: [],
      commits: { records: 1, bytes: 1 },
      root,
    });
  }
}

/** Makes a repository of three snapshots. The first has objects that the others hardly need. */
async function makeRepository(target: string, passphrase?: string): Promise<Repository> {
  const repository = await Repository.openFor(crypto.randomUUID(), { target, passphrase });
  const store = new Store(repository);
  await store.snapshot(() => true);
  await store.snapshot((group) => group % 5 !== 0);
  await store.snapshot((group) => group === 1);
  return repository;
}

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    await (isDirectory ? copyFolder : Deno.copyFile)(`${from}/${name}`, `${to}/${name}`);
  }
}

/** Replaces how a repository reaches its target. */
function intercept(repository: Repository, change: (target: Target) => Partial<Target>): void {
  const { target } = repository;
  const methods: Target = {
    place: target.place,
    prepare: () => target.prepare(),
    topNames: () => target.topNames(),
    get: (...args) => target.get(...args),
    put: (...args) => target.put(...args),
    list: (folder) => target.list(folder),
    remove: (name) => target.remove(name),
  };
  (repository as { target: Target }).target = { ...methods, ...change(target) };
}

class Killed extends Error {}

/** Lets a process die after some writes: nothing that it does then reaches the target. */
function killAfter(repository: Repository, writes: number): void {
  let left = writes;
  const count = () => {
    if (left-- <= 0) throw new Killed();
  };
  intercept(repository, (target) => ({
    put: async (...args) => {
      count();
      return await target.put(...args);
    },
    remove: async (name) => {
      count();
      await target.remove(name);
    },
  }));
}

/** The fingerprints of the groups of each snapshot, after their bytes were compared with them. */
async function contentOf(repository: Repository): Promise<string[]> {
  const contents: string[] = [];
  const objects = new Map<string, readonly Uint8Array[]>();
  for (const { id, root } of await repository.snapshots()) {
    const found: string[] = [id];
    for await (const entries of walkTree(root, repository.loadNode)) {
      for (const { object: { name }, ordinal, fingerprint, key } of entries) {
        if (!objects.has(name)) {
          objects.set(
            name,
            await readGroups(await repository.read("data", name), repository.sealer),
          );
        }
        const group = objects.get(name)?.[ordinal];
        assert(group !== undefined);
        assertEquals(fingerprintOf(group), fingerprint);
        assertEquals(group[0], key[1]);
        found.push(fingerprint.toString());
      }
    }
    contents.push(found.join("\n"));
  }
  return contents;
}

/** The bytes of all objects but for marks of runs. */
async function bytesIn({ target }: Repository): Promise<number> {
  let sum = 0;
  for (const folder of ["data", "index", "snapshots"]) {
    for await (const { size } of target.list(folder)) sum += size;
  }
  return sum;
}

async function assertIntact(repository: Repository): Promise<void> {
  const { problems } = await checkRepository(repository, { readAll: true });
  assertEquals(problems, new Map());
}

Deno.test("a prune rewrites objects of which little is needed, and reports what came free", async () => {
  await withFolder(async (folder) => {
    for (const passphrase of [undefined, "a passphrase"]) {
      const target = `${folder}/${passphrase}`;
      const repository = await makeRepository(target, passphrase);
      const [before, content] = [await bytesIn(repository), await contentOf(repository)];
      const planned = await prune(repository, { ...LAST, isDryRun: true });
      const { bytes, kept, removed } = await prune(repository, LAST);
      assertEquals([kept.length, removed.length], [2, 1]);
      const after = await bytesIn(repository);
      // Manifests do not count.
      assert(Math.abs(before - after - bytes) < 5000, `${before - after} ${bytes}`);
      // Two contents of a group are kept of those that changed last, else one.
      assert(after < 1.03 * (GROUPS + 1) * GROUP_SIZE, String(after));
      assert(Math.abs(planned.bytes - bytes) < before / 10, `${planned.bytes} ${bytes}`);
      const again = await Repository.open({ target, passphrase });
      assertEquals(await contentOf(again), content.slice(1));
      await assertIntact(again);
      const { objects, bytes: more } = await prune(again, LAST);
      assertEquals([objects, more], [0, 0]);
    }
  });
});

Deno.test("a prune that is killed between any two writes leaves every snapshot whole", async () => {
  await withFolder(async (folder) => {
    const template = `${folder}/template`;
    const content = await contentOf(await makeRepository(template));
    for (let writes = 0, isKilled = true; isKilled; writes++) {
      const target = `${folder}/${writes}`;
      await copyFolder(template, target);
      const victim = await Repository.open({ target });
      killAfter(victim, writes);
      isKilled = await prune(victim, LAST).then(() => false, (error) => {
        if (!(error instanceof Killed)) throw error;
        return true;
      });
      const repository = await Repository.open({ target });
      const found = await contentOf(repository);
      assertEquals(found.slice(-2), content.slice(-2), `after ${writes} writes`);
      await assertIntact(repository);
      // The sign of life would count as dead after some seconds.
      for await (const { name } of repository.target.list("locks")) {
        await repository.target.remove(name);
      }
      await prune(repository, LAST);
      assertEquals(await contentOf(repository), content.slice(-2));
      await assertIntact(repository);
      const { bytes } = await prune(repository, LAST);
      assertEquals(bytes, 0);
      assert(await bytesIn(repository) < 1.03 * (GROUPS + 1) * GROUP_SIZE, `${writes} writes`);
      await Deno.remove(target, { recursive: true });
    }
  });
});

Deno.test("a prune beside the rest of an interrupted snapshot rewrites, and leaves that rest", async () => {
  await withFolder(async (folder) => {
    const repository = await makeRepository(`${folder}/repository`);
    await repository.target.put("runs/ad0bb4d3-0000-0000-0000-000000000000", new Uint8Array(2));
    const { name } = await repository.store("data", new Uint8Array(1000));
    const content = await contentOf(repository);
    await prune(repository, LAST);
    assertEquals(await contentOf(repository), content.slice(1));
    assert(await repository.target.get(`data/${name}`) !== undefined);
    assert(await bytesIn(repository) < 1.03 * (GROUPS + 1) * GROUP_SIZE);
  });
});

Deno.test("a prune with an old list of manifests removes nothing", async () => {
  await withFolder(async (folder) => {
    const repository = await makeRepository(`${folder}/repository`);
    const content = await contentOf(repository);
    const old = await Array.fromAsync(repository.target.list("snapshots"));
    intercept(repository, (target) => ({
      async *list(folder) {
        yield* folder === "snapshots" ? old : target.list(folder);
      },
    }));
    await assertRejects(() => prune(repository, LAST), RepositoryError, "does not list");
    const again = await Repository.open({ target: `${folder}/repository` });
    assertEquals(await contentOf(again), content);
    await assertIntact(again);
  });
});

Deno.test("a prune that was taken for dead takes its manifests back", async () => {
  await withFolder(async (folder) => {
    const repository = await makeRepository(`${folder}/repository`);
    const content = await contentOf(repository);
    intercept(repository, (target) => ({
      async put(name, ...args) {
        if (name.startsWith("snapshots/")) {
          for await (const { name } of target.list("locks")) await target.remove(name);
        }
        return await target.put(name, ...args);
      },
    }));
    await assertRejects(() => prune(repository, LAST), RepositoryError, "stood still");
    const again = await Repository.open({ target: `${folder}/repository` });
    assertEquals((await again.manifests()).map(({ revision }) => revision), [0, 0, 0]);
    assertEquals(await contentOf(again), content);
  });
});

Deno.test("a check beside a prune that rewrites finds no problem", async () => {
  await withFolder(async (folder) => {
    const repository = await makeRepository(`${folder}/repository`);
    let pruned: Promise<unknown> | undefined;
    const { problems, snapshots } = await checkRepository(repository, {
      readAll: true,
      pace: async () => void await (pruned ??= prune(repository, LAST)),
    });
    assertEquals(problems, new Map());
    assertEquals(snapshots.length, 2);
  });
});

Deno.test("an object that is damaged is not rewritten", async () => {
  await withFolder(async (folder) => {
    const repository = await makeRepository(`${folder}/repository`);
    const content = await contentOf(repository);
    const [first] = await Array.fromAsync(repository.target.list("data"));
    assert(first !== undefined);
    const bytes = await repository.target.get(first.name);
    await repository.target.put(first.name, new Uint8Array(first.size));
    await prune(repository, LAST);
    assert(await repository.target.get(first.name) !== undefined);
    await repository.target.put(first.name, bytes ?? new Uint8Array());
    assertEquals(await contentOf(repository), content.slice(1));
  });
});

Deno.test("a manifest or a node that cannot be read stops a prune, which says what cures it", async () => {
  await withFolder(async (folder) => {
    const target = `${folder}/repository`;
    await makeRepository(target);
    const damage = async (path: string, cure: string) => {
      const repository = await Repository.open({ target });
      const before = await bytesIn(repository);
      const good = await repository.target.get(path) ?? new Uint8Array();
      const bad = good.slice();
      bad[20]! ^= 1;
      await repository.target.put(path, bad);
      const { message } = await assertRejects(() => prune(repository, LAST), RepositoryError);
      assert(message.includes(path) && message.includes(cure), message);
      assertEquals(await bytesIn(repository), before);
      return await checkRepository(repository, { readAll: false });
    };
    const repository = await Repository.open({ target });
    const [first, , third] = await repository.snapshots();
    assert(first !== undefined && third !== undefined);
    const manifest = `snapshots/${first.object}`;
    await damage(manifest, "or remove it");
    await repository.target.remove(manifest);
    const node = `index/${third.root.object.name}`;
    const { problems } = await damage(node, "what a snapshot needs");
    assertEquals([...problems.keys()], [node]);
    await repository.target.remove(`snapshots/${third.object}`);
    const again = await Repository.open({ target });
    const { kept } = await prune(again, { retention: { last: 1 } });
    assertEquals(kept.map(({ sequence }) => sequence), [1]);
    await assertIntact(again);
  });
});

Deno.test("a node of a snapshot that goes stops no prune, also beside an interrupted snapshot", async () => {
  await withFolder(async (folder) => {
    for (const mark of ["runs/ad0bb4d3-0000-0000-0000-000000000000", undefined]) {
      const repository = await makeRepository(`${folder}/${mark?.slice(0, 4)}`);
      const content = await contentOf(repository);
      if (mark !== undefined) await repository.target.put(mark, new Uint8Array(2));
      const [first] = await repository.snapshots();
      await repository.target.put(`index/${first?.root.object.name}`, new Uint8Array(9));
      await prune(repository, LAST);
      assertEquals(await contentOf(repository), content.slice(1));
    }
  });
});
