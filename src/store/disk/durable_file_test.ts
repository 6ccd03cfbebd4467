import { assert, assertEquals } from "@std/assert";
import { TemporaryFile } from "./durable_file.ts";
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

Deno.test("A refused claim keeps no descriptor, and the name is free once its holder releases it", async () => {
  await inFolder(async (folder) => {
    const path = `${folder}/copy.part`;
    const holder = await TemporaryFile.claim(path);
    const folderHolder = await FolderLock.take(folder, "shared");
    assert(holder !== undefined && folderHolder !== undefined);
    const before = descriptorsInto(folder);
    const refused = await Promise.all([
      ...Array.from({ length: 4 }, () => TemporaryFile.claim(path)),
      ...Array.from({ length: 4 }, () => FolderLock.take(folder, "exclusive")),
    ]);
    assertEquals(refused, new Array(8).fill(undefined));
    if (hasTryLock) assertEquals(descriptorsInto(folder), before);
    holder[Symbol.dispose]();
    folderHolder[Symbol.dispose]();
    using next = await TemporaryFile.claim(path);
    using nextFolder = await FolderLock.take(folder, "exclusive");
    assert(next !== undefined && nextFolder !== undefined);
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

Deno.test("A claimed file becomes private", async () => {
  if (Deno.build.os === "windows") return;
  await inFolder(async (folder) => {
    const path = `${folder}/copy.part`;
    await Deno.writeTextFile(path, "left", { mode: 0o644 });
    using claimed = await TemporaryFile.claim(path);
    assert(claimed !== undefined);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
  });
});

async function withPath(test: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(`${folder}/copy.part`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function namesBeside(path: string): string[] {
  const folder = path.slice(0, path.lastIndexOf("/"));
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("A leftover under the claimed name is emptied and its companions are removed", async () => {
  await withPath(async (path) => {
    for (const left of ["", "-wal", "-shm", "-journal"]) {
      await Deno.writeTextFile(path + left, "left");
    }
    using file = await TemporaryFile.claim(path);
    assert(file !== undefined);
    assertEquals(await Deno.readTextFile(path), "");
    assertEquals(namesBeside(path), ["copy.part"]);
    file.remove();
    assertEquals(namesBeside(path), []);
  });
});

Deno.test("A renamed file is not removed, and its temporary name is free", async () => {
  await withPath(async (path) => {
    const target = path.replace(".part", ".db");
    {
      using file = await TemporaryFile.claim(path);
      await Deno.writeTextFile(path, "whole");
      await file?.rename(target);
      using next = await TemporaryFile.claim(path);
      assert(next !== undefined);
      file?.remove();
      assertEquals(namesBeside(path), ["copy.db", "copy.part"]);
      next.remove();
    }
    assertEquals(await Deno.readTextFile(target), "whole");
    assertEquals(namesBeside(path), ["copy.db"]);
  });
});
