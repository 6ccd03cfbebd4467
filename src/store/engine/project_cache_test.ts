import { assert, assertEquals, assertRejects } from "@std/assert";
import type { DriveUsage } from "../quotas/usage.ts";
import type { Store } from "../store.ts";
import { ANYWAY, bytes } from "../testing/bodies.ts";
import { countReads, dataWith, drivesOf } from "../testing/entries.ts";
import { putAt, upload } from "../testing/files.ts";
import { otherProcess, sweepLater, testOnAll, type TestStore } from "../testing/stores.ts";
import { BeingDeleted, NoSuchProject, UploadRefused } from "./errors.ts";
import { ProjectCache } from "./project_cache.ts";
import { CHUNK_SIZE } from "./records.ts";
import { TtlCache } from "./ttl_cache.ts";

testOnAll(
  "A drive that is being deleted looks empty and refuses writes",
  async (bench) => {
    const { files, uploads, projects, drives, list } = facadeOf(bench.store);
    const place = { project: "p", drive: "one", name: "a" };
    await putAt(bench, place, bytes(10));
    await putAt(bench, { ...place, drive: "two" }, bytes(10));
    const id = await upload(bench, place, [10]);
    await projects.deleteDrive("p", "one");

    assertEquals((await drives("p")).map(({ name }) => name), ["two"]);
    const query = { ...place, limit: 10, prefix: "", last: "" };
    for (const recursive of [true, false]) {
      assertEquals(await list(query, { recursive }), { entries: [], more: false });
    }
    assertEquals([await files.reader.stat(place), await files.reader.open(place)], [
      undefined,
      undefined,
    ]);
    assertEquals(await files.delete(place), false);
    assertEquals(await uploads.list("p", "one", { limit: 9, last: "" }), {
      uploads: [],
      more: false,
    });
    for (const call of [() => uploads.get(place, id), () => uploads.abort(place, id)]) {
      assertEquals((await assertRejects(call, UploadRefused)).problem, "absent");
    }
    let wasRead = false;
    const body = async function* () {
      wasRead = true;
      yield await Promise.resolve(bytes(10));
    };
    const writes = [
      () => files.put(place, body(), ANYWAY),
      () => uploads.start(place, undefined),
      () => uploads.putPart(place, { id, part: 2, type: undefined }, body(), () => {}),
      () => uploads.complete(place, id, () => true),
    ];
    for (const write of writes) {
      const { message } = await assertRejects(write, BeingDeleted);
      assertEquals(message, 'The drive "one" is being removed: try again');
    }
    assertEquals(wasRead, false);
    await sweepLater(bench);
    await putAt(bench, place, bytes(20));
    assertEquals(await drives("p"), [
      { name: "one", files: 1, bytes: 20, openBytes: 0, trashFiles: 0, trashBytes: 0 },
      { name: "two", files: 1, bytes: 10, openBytes: 0, trashFiles: 0, trashBytes: 0 },
    ]);
    assertEquals((await files.reader.stat(place))?.size, 20);
  },
);

/** The store with its methods bound, so that they can be taken apart. */
function facadeOf(
  store: Store,
): Pick<Store, "files" | "uploads" | "projects" | "list"> & {
  drives: (project: string) => Promise<DriveUsage[]>;
} {
  const { files, uploads, projects } = store;
  return {
    files,
    uploads,
    projects,
    drives: (project) => drivesOf(store, project),
    list: store.list.bind(store),
  };
}

/** A body in whose middle something happens. */
async function* during(size: number, happens: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  const data = bytes(size);
  yield data.subarray(0, size / 2);
  await happens();
  yield data.subarray(size / 2);
}

/** Deletions that another process runs during a write. */
const DELETIONS: readonly { name: string; run: (bench: TestStore) => Promise<unknown> }[] = [
  { name: "the drive", run: ({ store }) => store.projects.deleteDrive("p", "d") },
  { name: "the project", run: ({ store }) => store.projects.delete("p") },
  {
    name: "the whole project",
    run: async (bench) => {
      await bench.store.projects.delete("p");
      await bench.store.sweeper.sweep();
    },
  },
  {
    name: "the whole project and creates another with its id",
    run: async (bench) => {
      await bench.store.projects.delete("p");
      await bench.store.sweeper.sweep();
      await bench.store.projects.create("p", undefined);
    },
  },
];

for (const { name, run } of DELETIONS) {
  testOnAll(
    `A write during which another process deletes ${name} is refused and leaves nothing`,
    async (bench) => {
      const place = { project: "p", drive: "d", name: "a" };
      await putAt(bench, place, bytes(5));
      const id = await upload(bench, place, [10]);
      // Another process that has cached the project as it was before.
      const writer = otherProcess(bench);
      await writer.store.files.reader.stat(place);
      const wanted: Refusal = name === "the drive" ? BeingDeleted : NoSuchProject;
      // The session may be gone before the cached project is read again.
      const wantedOfPart = [wanted, UploadRefused];
      const deleteOnce = once(() => run(bench));
      const { files, uploads } = writer.store;
      const part = { id, part: 2, type: undefined };
      await Promise.all([
        assertRefused(
          () => files.put({ ...place, name: "s" }, during(10, deleteOnce), ANYWAY),
          wanted,
        ),
        assertRefused(() => files.put(place, during(3 * CHUNK_SIZE, deleteOnce), ANYWAY), wanted),
        assertRefused(
          () => uploads.putPart(place, part, during(10, deleteOnce), () => {}),
          ...wantedOfPart,
        ),
        assertRefused(
          () => uploads.putPart(place, part, during(3 * CHUNK_SIZE, deleteOnce), () => {}),
          ...wantedOfPart,
        ),
      ]);
      for (
        const write of [() => uploads.start(place, undefined), () => putAt(writer, place, bytes(9))]
      ) {
        if (!name.includes("creates another")) await assertRefused(write, wanted);
      }
      await sweepLater(bench);
      assertEquals(await dataWith(bench, '"d"'), []);
    },
  );
}

async function assertRefused(
  write: () => Promise<unknown>,
  ...wanted: readonly Refusal[]
): Promise<void> {
  const error = await assertRejects(write);
  assert(wanted.some((kind) => error instanceof kind), String(error));
}

type Refusal = abstract new (...args: never[]) => Error;

function once(work: () => Promise<unknown>): () => Promise<unknown> {
  let running: Promise<unknown> | undefined;
  return () => running ??= work();
}

testOnAll(
  "An upload cannot be completed into a drive or project that is being deleted",
  async (bench) => {
    const place = { project: "p", drive: "d", name: "a" };
    const { projects } = bench.store;
    for (const remove of [() => projects.deleteDrive("p", "d"), () => projects.delete("p")]) {
      const writer = otherProcess(bench);
      const id = await upload(writer, place, [10]);
      await remove();
      await assertRejects(() => writer.store.uploads.complete(place, id, () => true));
      await sweepLater(bench);
      assertEquals(await dataWith(bench, '"d"'), []);
    }
  },
);

testOnAll("Another process can write to another drive while one is deleted", async (bench) => {
  const writer = otherProcess(bench);
  const place = { project: "p", drive: "other", name: "a" };
  for (let i = 0; i < 5; i++) {
    await putAt(bench, { ...place, drive: "d" }, bytes(10));
    await putAt(writer, place, bytes(10));
    await bench.store.projects.deleteDrive("p", "d");
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => putAt(writer, { ...place, name: `${n}` }, bytes(n))),
    );
    await sweepLater(bench);
  }
  assertEquals(await drivesOf(bench.store, "p"), [{
    name: "other",
    files: 21,
    bytes: 200,
    openBytes: 0,
    trashFiles: 0,
    trashBytes: 0,
  }]);
});

testOnAll(
  "A process reads its own write to a drive that another process has finished deleting",
  async (bench) => {
    const other = otherProcess(bench);
    const place = { project: "p", drive: "d", name: "a" };
    await putAt(bench, place, bytes(10));
    await bench.store.projects.deleteDrive("p", "d");
    assertEquals(await other.store.files.reader.stat(place), undefined);
    await bench.store.sweeper.sweep();
    await putAt(bench, place, bytes(7));
    assertEquals((await other.store.files.reader.stat(place))?.size, 7);
    await putAt(other, place, bytes(8));
    assertEquals((await bench.store.files.reader.stat(place))?.size, 8);
  },
);

testOnAll(
  "Concurrent small files share operations and do not read the project",
  async (bench) => {
    const { db } = bench;
    await putAt(bench, { project: "p", drive: "d", name: "first" }, bytes(1));
    const operations = await countOperations(async () => {
      const reads = await countReads(bench, () =>
        Promise.all(
          Array.from({ length: 66 }, (_, i) =>
            putAt(bench, { project: "p", drive: "d", name: `${i}` }, bytes(100, i))),
        ));
      // Each looks at its own name.
      assert(reads <= 66 + 2, String(reads));
    });
    // They come in tens, as they were read, and have one check in common.
    const most = Math.max(9, Math.ceil(66 / (db.commits.checks - 1)));
    assert(operations <= most, String(operations));
  },
);

/** How many atomic operations reach Deno KV while something is done. */
async function countOperations(work: () => Promise<unknown>): Promise<number> {
  const { prototype } = Deno.Kv;
  const { atomic } = prototype;
  let count = 0;
  prototype.atomic = function (this: Deno.Kv) {
    count++;
    return atomic.call(this);
  };
  try {
    await work();
  } finally {
    prototype.atomic = atomic;
  }
  return count;
}

testOnAll(
  "A cached thing of a deleted project opens no later project with its id",
  async (bench) => {
    const projects = new ProjectCache(bench.db);
    const old = await projects.find("p");
    assert(old !== undefined);
    let projectCreated = old.created - 1;
    const things = new TtlCache(() => Promise.resolve({ project: "p", projectCreated }));
    assertEquals(await projects.findOwned(things, "key"), undefined);
    projectCreated = old.created;
    assertEquals((await projects.findOwned(things, "key"))?.thing.project, "p");
  },
);
