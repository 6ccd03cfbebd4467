import { assert, assertEquals } from "@std/assert";
import { TemporaryFile } from "./temporary_file.ts";

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

Deno.test("What was left under the name is emptied, with what lies beside it", async () => {
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

Deno.test("Once it has its name nobody removes it, and the temporary name is free", async () => {
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
