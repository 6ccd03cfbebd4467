import { assertEquals } from "@std/assert";
import { checkRepository } from "./check.ts";
import { DataWriter } from "./data_object.ts";
import { encodeManifest, newSnapshotId } from "./manifest.ts";
import { prune } from "./prune.ts";
import { Repository } from "./repository.ts";
import { fingerprintOf, TreeBuilder } from "./tree.ts";

/** Adds a snapshot of one group. Returns the name of the object that has it. */
async function addSnapshot(repository: Repository, sequence: number): Promise<string> {
  const { sealer } = repository;
  const group = new Uint8Array(1000).fill(sequence);
  const fingerprint = fingerprintOf(group);
  const writer = new DataWriter(sealer);
  const ordinal = writer.add(fingerprint, (to) => to.bytes(group));
  const object = await repository.store("data", await writer.seal(false));
  const tree = new TreeBuilder((_, __, bytes) => repository.store("index", bytes));
  const key = new Uint8Array([0, 1]);
  tree.add(key, { key, fingerprint, object, ordinal });
  const root = await tree.finish();
  if (root === undefined) throw new Error("The tree is empty");
  const manifest = {
    id: newSnapshotId(),
    sequence,
    revision: 0,
    time: sequence,
    store: repository.config.store,
    format: 1,
    files: 1,
    bytes: 1000,
    size: 1000,
    added: 1000,
    damaged: [],
    commits: { records: 1, bytes: 1 },
    root,
  };
  await repository.store("snapshot", encodeManifest(manifest));
  return object.name;
}

/** Runs a test with a repository of two snapshots. */
async function withRepository(
  test: (repository: Repository, objects: [first: string, second: string]) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const target = `${folder}/repository`;
    const repository = await Repository.openFor(crypto.randomUUID(), { target });
    await test(repository, [
      await addSnapshot(repository, 1),
      await addSnapshot(repository, 2),
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("a snapshot that is pruned during a check is no damage", async () => {
  await withRepository(async (repository) => {
    let pruned: Promise<unknown> | undefined;
    const report = await checkRepository(repository, {
      readAll: true,
      pace: async () => void await (pruned ??= prune(repository, { retention: { last: 1 } })),
    });
    assertEquals(report.problems, new Map());
    assertEquals(report.snapshots.map(({ sequence }) => sequence), [2]);
  });
});

Deno.test("what is missing of a snapshot that stays is damage", async () => {
  await withRepository(async (repository, [, second]) => {
    let pruned: Promise<unknown> | undefined;
    const report = await checkRepository(repository, {
      readAll: true,
      pace: async () => {
        await (pruned ??= prune(repository, { retention: { last: 1 } }));
        await repository.target.remove(`data/${second}`);
      },
    });
    assertEquals([...report.problems.keys()], [`data/${second}`]);
  });
});
