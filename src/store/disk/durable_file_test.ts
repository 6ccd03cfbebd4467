import { assert, assertEquals, assertRejects } from "@std/assert";
import { FileLock, removeIfAbandoned, TemporaryFile } from "./durable_file.ts";
import { FolderLock, tryLock } from "./file_lock.ts";

async function inFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Counts the descriptors of this process that lead into a folder; 0 if the system does not list them. */
function descriptorsInto(folder: string): number {
  if (Deno.build.os !== "linux") return 0;
  let count = 0;
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      if (Deno.readLinkSync(`/proc/self/fd/${name}`).startsWith(folder)) count++;
    } catch (error) {
      // Listing the folder opens a descriptor as well.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return count;
}

/** `tryLock` came with Deno 2.7: older versions keep the file open until the lock is free. */
const hasTryLock = "tryLock" in Deno.FsFile.prototype;

Deno.test("A refused lock keeps no descriptor, and is free once its holder releases it", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/lock`;
    const holder = await FileLock.take(path);
    const folderHolder = await FolderLock.take(folder, "shared");
    assert(holder !== undefined && folderHolder !== undefined);
    const before = descriptorsInto(folder);
    const refused = await Promise.all([
      ...Array.from({ length: 4 }, () => FileLock.take(path)),
      ...Array.from({ length: 4 }, () => FolderLock.take(folder, "exclusive")),
    ]);
    assertEquals(refused, new Array(8).fill(undefined));
    if (hasTryLock) assertEquals(descriptorsInto(folder), before);
    holder[Symbol.dispose]();
    folderHolder[Symbol.dispose]();
    using next = await FileLock.take(path);
    using nextFolder = await FolderLock.take(folder, "exclusive");
    assert(next !== undefined && nextFolder !== undefined);
  });
});

Deno.test("A lock leaves no file, and a file of others as it is", async () => {
  await inFolder(async (folder) => {
    (await FileLock.take(`${folder}/lock`))?.[Symbol.dispose]();
    assertEquals(namesIn(folder), []);
    await Deno.writeTextFile(`${folder}/lock`, "theirs");
    (await FileLock.take(`${folder}/lock`))?.[Symbol.dispose]();
    assertEquals(await Deno.readTextFile(`${folder}/lock`), "theirs");
  });
});

Deno.test("A lock that is released within the wait is acquired", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/file`;
    using first = await Deno.open(path, { create: true, write: true });
    using second = await Deno.open(path, { write: true });
    assert(await tryLock(first, "exclusive"));
    const waiting = tryLock(second, "exclusive");
    first.unlockSync();
    assert(await waiting);
  });
});

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** A name that a crashed process may have left. */
const LEFT = ".kvdrive-00000000-0000-4000-8000-000000000000.tmp";

Deno.test("A temporary file is private, has its own name, and is removed unless it is renamed", async () => {
  await inFolder(async (folder) => {
    {
      using first = await TemporaryFile.create(`${folder}/copy.db`);
      using second = await TemporaryFile.create(`${folder}/copy.db`);
      assertEquals(namesIn(folder).length, 2);
      if (Deno.build.os !== "windows") {
        assertEquals((await Deno.stat(first.path)).mode! & 0o777, 0o600);
      }
      for (const ending of ["-wal", "-shm", "-journal"]) {
        await Deno.writeTextFile(first.path + ending, "of SQLite");
        await Deno.writeTextFile(second.path + ending, "of SQLite");
      }
      await Deno.writeTextFile(second.path, "whole");
      await second.rename(`${folder}/copy.db`);
    }
    assertEquals(namesIn(folder), ["copy.db"]);
    assertEquals(await Deno.readTextFile(`${folder}/copy.db`), "whole");
  });
});

Deno.test("A temporary file replaces another file only if it may", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/copy.db`;
    await Deno.writeTextFile(path, "first");
    using file = await TemporaryFile.create(path);
    await Deno.writeTextFile(file.path, "second");
    await assertRejects(() => file.rename(path, { replaces: false }), Deno.errors.AlreadyExists);
    assertEquals(await Deno.readTextFile(path), "first");
    await file.rename(path);
    assertEquals(await Deno.readTextFile(path), "second");
    using other = await TemporaryFile.create(path);
    await other.rename(`${folder}/other.db`, { replaces: false });
    assertEquals(namesIn(folder), ["copy.db", "other.db"]);
  });
});

Deno.test("What a crashed process left is removed, but no file of a running one and no other", async () => {
  if (!hasTryLock) return;
  await inFolder(async (folder) => {
    for (const ending of ["", "-wal", "-shm", "-journal"]) {
      await Deno.writeTextFile(`${folder}/${LEFT}${ending}`, "left");
    }
    await Deno.writeTextFile(`${folder}/copy.db.part`, "theirs");
    using running = await TemporaryFile.create(`${folder}/copy.db`);
    using next = await TemporaryFile.create(`${folder}/copy.db`);
    assertEquals(namesIn(folder).length, 3);
    assertEquals(await Promise.all([running, next].map(({ path }) => removeIfAbandoned(path))), [
      false,
      false,
    ]);
    assertEquals(await Deno.readTextFile(`${folder}/copy.db.part`), "theirs");
  });
});
