import { assert, assertEquals } from "@std/assert";
import { DAY, HOUR, MINUTE } from "../../rules/units.ts";
import { keys } from "../engine/keys.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import type { Store } from "../store.ts";
import { ANYWAY, bytes, DRIVE, inPieces, place } from "../testing/bodies.ts";
import { assertKeys, assertUsage, drivesOf } from "../testing/entries.ts";
import {
  assertCompleted,
  LIFETIME,
  names,
  put,
  putExpiring,
  putPart,
  read,
  recordOf,
  sweep,
} from "../testing/files.ts";
import { sweepLater, testOnAll } from "../testing/stores.ts";
import { withClock } from "../testing/time.ts";

const always = () => true;

/** Whether searches without and with details find a file, and an archive would open it. */
async function found(store: Store, name: string): Promise<boolean[]> {
  const query = { ...DRIVE, limit: 10, prefix: "", last: "" };
  const searches = [false, true].map((details) => store.search(query, { contains: name, details }));
  return (await Promise.all(searches)).map(({ entries }) => entries.length > 0);
}

/** What a store says about a file, and about the usage. */
async function seen(store: Store, name: string): Promise<unknown[]> {
  using file = await store.files.reader.open(place(name));
  const [drive] = await drivesOf(store, DRIVE.project);
  const [project] = await store.usage();
  return [
    file !== undefined,
    await store.files.reader.stat(place(name)) !== undefined,
    drive?.files,
    drive?.bytes,
    project?.files,
    project?.bytes,
  ];
}

for (const size of [10, 3 * CHUNK_SIZE]) {
  testOnAll(
    `A file of ${size} bytes is absent from its deadline on, to the millisecond`,
    async (bench) => {
      await withClock(async (forward) => {
        const { expires } = await putExpiring(bench, "a", size);
        assertEquals(expires, Date.now() + LIFETIME);
        forward(LIFETIME - 1);
        assertEquals(await seen(bench.store, "a"), [true, true, 1, size, 1, size]);
        assertEquals(await names(bench), ["a"]);
        forward(1);
        assertEquals(await names(bench), []);
        assertEquals(await names(bench, false), []);
        assertEquals(await found(bench.store, "a"), [false, false]);
        assertEquals(await seen(bench.store, "a"), [false, false, 1, size, 1, size]);
        await sweep(bench);
        assertEquals(await seen(bench.store, "a"), [false, false, 0, 0, 0, 0]);
      });
    },
  );
}

testOnAll(
  "An expired file is absent for conditions, copies, moves and deletions",
  async (bench) => {
    const { store } = bench;
    const { copies } = store.files;
    await withClock(async (forward) => {
      await bench.store.projects.update(DRIVE.project, { trashDays: 1 });
      for (const name of ["new", "copied", "moved", "deleted", "taken"]) {
        await putExpiring(bench, name, 10);
      }
      await put(bench, "source", bytes(5));
      forward(LIFETIME);
      const options = { ...ANYWAY, condition: (current: unknown) => current === undefined };
      const record = await store.files.put(place("new"), inPieces(bytes(3)), options);
      assert(record !== "refused");
      assertEquals(record.created, Date.now());
      const request = { overwrite: false, condition: always };
      const to = place("target");
      assertEquals(await copies.run("copy", { from: place("copied"), to, ...request }), "absent");
      assertEquals(await copies.run("move", { from: place("moved"), to, ...request }), "absent");
      const taken = { from: place("source"), to: place("taken"), ...request };
      assert(typeof await copies.run("copy", taken) !== "string");
      assertEquals(await store.files.delete(place("deleted")), false);
      assertEquals(await store.changeFile(place("gone"), { lifetime: 1 }, always), "absent");
      assertEquals(await names(bench), ["new", "source", "taken"]);
      await sweep(bench);
      await assertUsage(bench, { files: 3, bytes: 13 });
      const trash = await store.trash.list(DRIVE, { limit: 10, last: "", prefix: "" });
      assertEquals(trash.items, [], "What has expired does not go to the trash");
    });
  },
);

testOnAll("A new version, a deletion and a change take the former deadline away", async (bench) => {
  const { store } = bench;
  await withClock(async (forward) => {
    for (const name of ["overwritten", "changed", "kept", "deleted", "longer"]) {
      await putExpiring(bench, name, 1);
    }
    await put(bench, "overwritten", bytes(2));
    await store.files.delete(place("deleted"));
    const before = await recordOf(bench, "kept");
    const kept = await store.changeFile(place("kept"), { lifetime: null }, always);
    const { expires: _, ...lasting } = before;
    assertEquals(kept, lasting);
    await store.changeFile(place("longer"), { lifetime: DAY }, always);
    await store.changeFile(place("changed"), { lifetime: 1 }, always);
    await assertKeys(bench, {
      ...{ file: 4, content: 4, expiry: 2, "usage files": 1, "usage bytes": 1 },
    });
    forward(1);
    assertEquals(await names(bench), ["kept", "longer", "overwritten"]);
    forward(LIFETIME);
    await sweep(bench);
    assertEquals(await names(bench), ["kept", "longer", "overwritten"]);
    forward(DAY);
    await sweep(bench);
    assertEquals(await names(bench), ["kept", "overwritten"]);
    await assertKeys(bench, { file: 2, content: 2, "usage files": 1, "usage bytes": 1 });
  });
});

testOnAll(
  "A moved file keeps its deadline, a copy has none, and both keep the client time",
  async (bench) => {
    const { copies } = bench.store.files;
    await withClock(async (forward) => {
      const options = { ...ANYWAY, lifetime: LIFETIME, mtime: -5 };
      await bench.store.files.put(place("a"), inPieces(bytes(2 * CHUNK_SIZE)), options);
      const request = { overwrite: false, condition: always };
      await copies.run("move", { from: place("a"), to: place("moved"), ...request });
      await copies.run("copy", { from: place("moved"), to: place("copy"), ...request });
      const moved = await recordOf(bench, "moved");
      const copied = await recordOf(bench, "copy");
      assertEquals([moved.expires, moved.mtime], [Date.now() + LIFETIME, -5]);
      assertEquals([copied.expires, copied.mtime], [undefined, -5]);
      forward(LIFETIME);
      assertEquals(await names(bench), ["copy"]);
      await sweep(bench);
      forward(2 * MINUTE);
      for (let i = 0; i < 2; i++) await sweep(bench);
      assertEquals(await read(bench, "copy"), bytes(2 * CHUNK_SIZE));
      await assertUsage(bench, { files: 1, bytes: 2 * CHUNK_SIZE });
    });
  },
);

testOnAll("A file that expires does so in the trash as well", async (bench) => {
  const { store } = bench;
  const trashed = async () =>
    (await store.trash.list(DRIVE, { limit: 10, last: "", prefix: "" })).items.map(({ id }) => id);
  await withClock(async (forward) => {
    await store.projects.update(DRIVE.project, { trashDays: 1 });
    for (const name of ["a", "b"]) {
      await putExpiring(bench, name, CHUNK_SIZE + 1);
      await store.files.delete(place(name));
    }
    const [b = "", a = ""] = await trashed();
    assertEquals(await store.trash.restore(DRIVE, b, { overwrite: false }), "restored");
    forward(LIFETIME - 1);
    assertEquals([await names(bench), await trashed()], [["b"], [a]]);
    forward(1);
    assertEquals([await names(bench), await trashed()], [[], []]);
    assertEquals(await store.trash.restore(DRIVE, a, { overwrite: false }), "absent");
    await sweep(bench);
    forward(2 * MINUTE);
    await sweep(bench);
    const counters = ["files", "bytes", "trash_files", "trash_bytes"];
    await assertKeys(bench, Object.fromEntries(counters.map((name) => [`usage ${name}`, 1])));
  });
});

testOnAll("Another content type makes a new version of the same bytes", async (bench) => {
  const { store } = bench;
  for (const size of [10, 2 * CHUNK_SIZE]) {
    const before = await putExpiring(bench, "a", size, HOUR);
    const after = await store.changeFile(place("a"), { type: "text/x-new" }, always);
    assert(typeof after === "object");
    assertEquals([after.type, after.expires], ["text/x-new", before.expires]);
    assert(after.version > before.version && after.modified >= before.modified);
    assertEquals(after.created, before.created);
    assertEquals(await read(bench, "a"), bytes(size));
    const same = await store.changeFile(place("a"), { type: "text/x-new" }, always);
    assertEquals(same, after, "The same type is no change");
    await store.files.delete(place("a"));
    await sweepLater(bench);
    await assertKeys(bench, { "usage files": 1, "usage bytes": 1 });
  }
});

testOnAll("A file of many parts gets its digest also after its type has changed", async (bench) => {
  const { store } = bench;
  const id = await store.uploads.start(place("a"), undefined);
  await putPart(bench, "a", id, 1, bytes(5_242_880));
  await putPart(bench, "a", id, 2, bytes(10));
  await store.uploads.complete(place("a"), id, always);
  await store.changeFile(place("a"), { type: "text/x-new" }, always);
  const { version, sha256 } = await recordOf(bench, "a");
  assertEquals(sha256, undefined);
  assertEquals((await bench.db.reader.get(keys.undigested(place("a")))).value, version);
  await store.scrub.checkUrgent();
  const after = await recordOf(bench, "a");
  assertEquals([after.version, typeof after.sha256], [version, "string"]);
});

testOnAll("The lifetime of an upload's file begins at the completion", async (bench) => {
  const { uploads } = bench.store;
  await withClock(async (forward) => {
    const id = await uploads.start(place("a"), undefined, { lifetime: LIFETIME, mtime: 7 });
    await putPart(bench, "a", id, 1, bytes(2 * CHUNK_SIZE));
    forward(HOUR);
    const expires = Date.now() + LIFETIME;
    assertCompleted(await uploads.complete(place("a"), id, always), expires);
    const record = await recordOf(bench, "a");
    assertEquals([record.expires, record.mtime], [expires, 7]);
    forward(LIFETIME);
    assertEquals(await names(bench), []);
    assertCompleted(await uploads.complete(place("a"), id, always), expires);
    await sweep(bench);
    assertCompleted(await uploads.complete(place("a"), id, always), expires);
  });
});

testOnAll("A download that began before the deadline ends with the bytes", async (bench) => {
  await withClock(async (forward) => {
    for (const size of [10, 5 * CHUNK_SIZE]) {
      await putExpiring(bench, "a", size);
      using file = await bench.store.files.reader.open(place("a"));
      assert(file !== undefined);
      const range = { start: 0, end: size };
      const pieces = (await file.read(range))[Symbol.asyncIterator]();
      const first = await pieces.next();
      forward(LIFETIME);
      await sweep(bench);
      forward(2 * MINUTE);
      await sweep(bench);
      const received: BlobPart[] = first.done ? [] : [first.value];
      for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
        received.push(next.value);
      }
      assertEquals(new Uint8Array(await new Blob(received).arrayBuffer()), bytes(size));
    }
  });
});

testOnAll("Folders of which all files have expired are not listed", async (bench) => {
  await withClock(async (forward) => {
    for (let i = 0; i < 30; i++) await putExpiring(bench, `gone/${i}`, 1);
    for (let i = 0; i < 30; i++) await putExpiring(bench, `mixed/${i}`, 1);
    await put(bench, "mixed/z", bytes(1));
    for (let i = 0; i < 30; i++) await putExpiring(bench, `top-${i}`, 1);
    await put(bench, "z", bytes(1));
    forward(LIFETIME);
    assertEquals(await names(bench, false), ["mixed/", "z"]);
    assertEquals(await names(bench, false, "mixed/"), ["mixed/z"]);
    assertEquals(await names(bench, false, "gone/"), []);
    assertEquals(await names(bench), ["mixed/z", "z"]);
    for (const recursive of [true, false]) {
      const page = { ...DRIVE, limit: 1, prefix: "", last: "" };
      const first = await bench.store.list(page, { recursive });
      assertEquals([first.entries.length, first.more], [1, true]);
      const last = first.entries.at(-1)?.name ?? "";
      const second = await bench.store.list({ ...page, last }, { recursive });
      assertEquals(second.entries.map(({ name }) => name), ["z"]);
      assertEquals(second.more, false);
    }
  });
});
