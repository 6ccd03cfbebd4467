import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { concat } from "@std/bytes/concat";
import { equals } from "@std/bytes/equals";
import { join } from "@std/path/join";
import { KIB } from "../../rules/units.ts";
import { Backup } from "../backup/backup.ts";
import { withSqlite } from "../disk/sqlite.ts";
import { databasePath } from "../disk/store_files.ts";
import type { Database } from "../engine/database.ts";
import { openDatabase } from "../engine/database_file.ts";
import { CannotOpenStore } from "../engine/errors.ts";
import { type Convert, FORMAT, formatOf } from "../engine/format.ts";
import { keys, prefixes } from "../engine/keys.ts";
import { BYTE_KINDS, isByteKind } from "../engine/records/kinds.ts";
import { CHUNK_SIZE } from "../engine/records.ts";
import { Store } from "../store.ts";
import { bytes, DRIVE, place } from "../testing/bodies.ts";
import { copy, put, read, upload } from "../testing/files.ts";
import { allEntries } from "../testing/entries.ts";
import { addProject, type TestStore, withFolder } from "../testing/stores.ts";
import type { StoredPart } from "../uploads/parts.ts";
import { verifyStore } from "../verify/verify.ts";
import { separateBytes } from "./separate_bytes.ts";
import { converter } from "./upgrade.ts";

const quiet = { onNotice: () => {}, reserve: 0 };

const LARGE = bytes(45 * CHUNK_SIZE + 7);
const PART = bytes(2 * CHUNK_SIZE + 1);

/** What is in the files, by name. */
const FILES: Record<string, Uint8Array> = {
  empty: bytes(0),
  small: bytes(10),
  large: LARGE,
  copied: LARGE,
  parts: concat([PART, PART, PART]),
};

async function withStore<T>(folder: string, work: (bench: TestStore) => Promise<T>): Promise<T> {
  const db = await openDatabase(folder);
  const store = new Store(db, {
    onError: (error) => {
      throw error;
    },
  });
  try {
    return await work({ db, store });
  } finally {
    await store.close();
  }
}

/** Fills a store with files, an open upload and trash. */
async function fill(bench: TestStore): Promise<void> {
  const { store, db } = bench;
  await addProject(db);
  await store.projects.update(DRIVE.project, { trashDays: 7 });
  await put(bench, "empty", bytes(0));
  await put(bench, "small", bytes(10));
  await put(bench, "large", LARGE);
  const id = await upload(bench, place("parts"), Array(3).fill(PART.byteLength));
  const choose = (parts: readonly StoredPart[]) => ({ parts });
  await store.uploads.complete(place("parts"), id, () => true, { choose });
  await copy(bench, "large", "copied");
  await put(bench, "gone", bytes(3 * CHUNK_SIZE));
  await store.files.delete(place("gone"));
  await upload(bench, place("open"), [100, 2 * CHUNK_SIZE]);
}

/** Returns all entries, without what changes when a store is opened. Those of bytes have new versionstamps. */
async function entriesOf(db: Database): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for await (const { key, value, versionstamp } of allEntries(db)) {
    const kind = String(key[0]);
    if (kind === "byte_file" || kind === "format") continue;
    const isOfBytes = isByteKind(kind);
    const content = value instanceof Uint8Array ? await digestOf(value) : Deno.inspect(value);
    found.set(JSON.stringify(key), isOfBytes ? content : [content, versionstamp]);
  }
  return found;
}

async function digestOf(value: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(value));
  return new Uint8Array(digest).toString();
}

/** A store in one file, and what it has in it. */
interface Joined {
  path: string;
  entries: Map<string, unknown>;
}

/** Makes a store in two files, and from it, by a backup, one in one file. */
async function makeJoined(parent: string): Promise<Joined> {
  const folder = join(parent, "whole");
  const path = join(parent, "joined.db");
  const entries = await withStore(folder, async (bench) => {
    await fill(bench);
    return await entriesOf(bench.db);
  });
  await new Backup({ source: databasePath(folder), target: path, reserve: 0 }).run();
  return { path, entries };
}

/** Runs a test with a folder whose store is in one file. */
async function withJoined(
  test: (folder: string, joined: Joined, parent: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (parent) => {
    const joined = await makeJoined(parent);
    await test(await folderOf(parent, "data", joined), joined, parent);
  });
}

async function folderOf(parent: string, name: string, { path }: Joined): Promise<string> {
  const folder = join(parent, name);
  await Deno.mkdir(folder);
  await Deno.copyFile(path, databasePath(folder));
  return folder;
}

/** Asserts that a store is separated, whole, and opens without a converter. */
async function assertSeparated(folder: string, { entries }: Joined): Promise<void> {
  await withStore(folder, async (bench) => {
    const { db } = bench;
    assertEquals(await entriesOf(db), entries);
    assertEquals(await chunksAmongRecords(folder), 0);
    for (const [name, data] of Object.entries(FILES)) {
      assert(equals(await read(bench, name) ?? bytes(1), data), name);
    }
  });
  const { problems } = await verifyStore(databasePath(folder));
  assertEquals(problems.map(({ message }) => message), []);
  const { size } = await Deno.stat(databasePath(folder));
  assert(size < 256 * KIB, `The records take ${size} bytes`);
  assertEquals((await byteFilesIn(folder)).length, 1);
}

async function byteFilesIn(folder: string): Promise<string[]> {
  const names = await Array.fromAsync(Deno.readDir(folder), ({ name }) => name);
  return names.filter((name) => /^kvdrive-bytes-.*\.db$/.test(name));
}

async function chunksAmongRecords(folder: string): Promise<number> {
  using kv = await Deno.openKv(databasePath(folder));
  const entries = BYTE_KINDS.map((kind) =>
    Array.fromAsync(kv.list({ prefix: prefixes.all(kind) }))
  );
  return (await Promise.all(entries)).flat().length;
}

Deno.test("A store in one file is separated, with all its files", async () => {
  await withJoined(async (folder, joined) => {
    const notices: string[] = [];
    const onNotice = (text: string) => void notices.push(text);
    await (await openDatabase(folder, "direct", converter({ onNotice, reserve: 0 }))).close();
    await assertSeparated(folder, joined);
    assertMatch(notices[0] ?? "", /^The bytes of files move to a file of their own$/);
    assertMatch(notices[1] ?? "", /^All bytes of files have moved: 3\.\d M/);
    assertEquals(notices.length, 2);
    // A store that is separated has nothing to convert.
    const convert = () => Promise.reject(new Error("It was converted"));
    await (await openDatabase(folder, "direct", convert)).close();
  });
});

/** Makes commits fail from one on, as if the process was killed. Counts the others. */
function interrupted(after: number): { convert: Convert; count: () => number } {
  let commits = 0;
  const convert: Convert = async (db) => {
    const kill = () => Promise.reject(new Error("Killed"));
    const { commitBytes, commitBulk } = db;
    db.commitBytes = (...args) => commits++ < after ? commitBytes.apply(db, args) : kill();
    db.commitBulk = (...args) => commits++ < after ? commitBulk.apply(db, args) : kill();
    await separateBytes(db, quiet);
  };
  return { convert, count: () => commits };
}

Deno.test("A separation that is interrupted after any commit goes on at the next start", async () => {
  await withJoined(async (folder, joined, parent) => {
    const whole = interrupted(Infinity);
    await (await openDatabase(folder, "direct", whole.convert)).close();
    const commits = whole.count();
    assert(commits > 10, `${commits} commits`);
    for (let after = 0; after < commits; after++) {
      const each = await folderOf(parent, `after ${after}`, joined);
      const { convert } = interrupted(after);
      await assertRejects(() => openDatabase(each, "direct", convert), CannotOpenStore, "Killed");
      await assertRejects(() => openDatabase(each), CannotOpenStore, "start the server once");
      await (await openDatabase(each, "direct", converter(quiet))).close();
      await assertSeparated(each, joined);
      await Deno.remove(each, { recursive: true });
    }
  });
});

Deno.test("A separation goes on however often it is interrupted", async () => {
  await withJoined(async (folder, joined) => {
    for (let starts = 0;; starts++) {
      const { convert } = interrupted(3);
      const opened = await openDatabase(folder, "direct", convert).catch((error) => {
        assert(error instanceof CannotOpenStore && error.message.includes("Killed"), String(error));
      });
      assert(starts < 100, "It does not end");
      if (opened === undefined) continue;
      await opened.close();
      assert(starts > 5, `${starts} starts`);
      return await assertSeparated(folder, joined);
    }
  });
});

Deno.test("Chunks that are in both files after a crash move once", async () => {
  await withJoined(async (folder, joined) => {
    const copies = (db: Database) => {
      db.commitBulk = () => Promise.reject(new Error("Killed"));
      return separateBytes(db, quiet);
    };
    const before = await chunksAmongRecords(folder);
    for (let i = 0; i < 2; i++) {
      await assertRejects(() => openDatabase(folder, "direct", copies), CannotOpenStore, "Killed");
    }
    assertEquals(await chunksAmongRecords(folder), before);
    const [name = ""] = await byteFilesIn(folder);
    const { n } = withSqlite(
      join(folder, name),
      (sqlite) => ({ ...sqlite.prepare("SELECT count(*) AS n FROM kv").get() }),
    );
    assertEquals(n, 12);
    await (await openDatabase(folder, "direct", converter(quiet))).close();
    await assertSeparated(folder, joined);
  });
});

Deno.test("A store is not separated without the space for it, and nothing changes", async () => {
  await withJoined(async (folder, joined) => {
    {
      using kv = await Deno.openKv(databasePath(folder));
      await kv.set(keys.format(), new Deno.KvU64(BigInt(FORMAT - 1)));
    }
    const entries = () =>
      withSqlite(
        databasePath(folder),
        (sqlite) => sqlite.prepare("SELECT k, version FROM kv ORDER BY k").all(),
      );
    const before = entries();
    const notices: string[] = [];
    const onNotice = (text: string) => void notices.push(text);
    const convert = converter({ onNotice, reserve: 1e18 });
    const error = await assertRejects(
      () => openDatabase(folder, "direct", convert),
      CannotOpenStore,
    );
    assertMatch(
      error.message,
      /^Cannot open the store in .*: its bytes move to a file of their own, for which the disk needs .* free and has .*; free some space and start again$/,
    );
    assertEquals([notices, await byteFilesIn(folder)], [[], []]);
    assertEquals(entries(), before);
    const converted = await openDatabase(folder, "direct", converter(quiet));
    assertEquals(await formatOf(converted), FORMAT);
    await converted.close();
    await assertSeparated(folder, joined);
  });
});

Deno.test("A chunk that Deno KV cannot decode does not hold up the others, and keeps its bytes", async () => {
  await withJoined(async (folder, joined) => {
    withSqlite(databasePath(folder), (sqlite) => {
      const ofChunks = "FROM kv WHERE length(v) = 65536 LIMIT 1 OFFSET 5";
      sqlite.exec(`UPDATE kv SET v_encoding = 1 WHERE k = (SELECT k ${ofChunks})`);
    });
    await (await openDatabase(folder, "direct", converter(quiet))).close();
    await assertSeparated(folder, joined);
  });
});
