import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path/join";
import { ClientError } from "./errors.ts";
import { isSameTime, openPlainFile, PlainTree, readFile } from "./local_files.ts";

/** A folder with `tree`, and with `outside/file` as the target of links. */
async function withTree(test: (folder: string, tree: PlainTree) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "kvdrive-test-" }));
  try {
    await Deno.mkdir(join(folder, "outside"));
    await Deno.writeTextFile(join(folder, "outside/file"), "theirs");
    await test(folder, await PlainTree.open(join(folder, "tree")));
    assertEquals(await Deno.readTextFile(join(folder, "outside/file")), "theirs");
    assertEquals(Array.from(Deno.readDirSync(join(folder, "outside"))).length, 1);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("A folder is created with its parents, once", async () => {
  await withTree(async (_folder, tree) => {
    for (let time = 0; time < 2; time++) {
      assertEquals(await tree.makeParent("a/b/c"), join(tree.root, "a/b/c"));
      assertEquals((await Deno.stat(join(tree.root, "a/b"))).isDirectory, true);
    }
    assertEquals(await tree.makeParent("file"), join(tree.root, "file"));
  });
});

Deno.test("A link or a file in place of a folder is refused, even if it appears later", async () => {
  for (const target of ["../outside", "nowhere", "b"]) {
    await withTree(async (_folder, tree) => {
      await tree.makeFolder("b");
      await Deno.symlink(target, join(tree.root, "a"));
      await assertRejects(() => tree.makeParent("a/x/y"), ClientError, "symbolic link");
      await assertRejects(() => tree.makeParent("a/x"), ClientError, "symbolic link");
    });
  }
  await withTree(async (folder, tree) => {
    await Deno.writeTextFile(join(tree.root, "a"), "");
    await assertRejects(() => tree.makeParent("a/x"), ClientError, "is not a folder");
    await tree.makeFolder("b/c");
    await Deno.remove(join(tree.root, "b"), { recursive: true });
    await Deno.symlink(join(folder, "outside"), join(tree.root, "b"));
    await assertRejects(() => tree.makeParent("b/x"), ClientError, "symbolic link");
    await Deno.mkdir(join(folder, "outside/c"));
    await assertRejects(() => tree.makeParent("b/c/x"), ClientError, "symbolic link");
    await Deno.remove(join(folder, "outside/c"));
  });
});

Deno.test("The root of a tree may be a link", async () => {
  await withTree(async (folder, tree) => {
    await Deno.symlink(tree.root, join(folder, "link"));
    assertEquals((await PlainTree.open(join(folder, "link"))).root, tree.root);
  });
});

Deno.test("A regular file is created or opened, and a link is refused", async () => {
  await withTree(async (folder, tree) => {
    const path = join(tree.root, "file");
    for (const text of ["1", "2"]) {
      using file = await openPlainFile(path);
      await file.seek(0, Deno.SeekMode.End);
      await file.write(new TextEncoder().encode(text));
    }
    assertEquals(await Deno.readTextFile(path), "12");
    for (const target of ["outside/file", "outside/made"]) {
      await Deno.remove(path);
      await Deno.symlink(join(folder, target), path);
      await assertRejects(() => openPlainFile(path), ClientError, "symbolic link");
    }
    await assertRejects(() => openPlainFile(tree.root), ClientError, "is not a file");
  });
});

Deno.test("Times are compared by the millisecond, or by the second if one of them is coarse", () => {
  const cases: [here: number, there: number, same: boolean][] = [
    [1700000000123, 1700000000123, true],
    [1700000000122, 1700000000123, true],
    [1700000000120, 1700000000123, false],
    [1700000000000, 1700000000123, true],
    [1700000000123, 1700000000000, true],
    [1700000001000, 1700000000123, false],
    [1700000001000, 1700000000999, true],
  ];
  for (const [here, there, same] of cases) assertEquals(isSameTime(here, there), same);
});

Deno.test("A file is read in growing pieces, which stay as they were", async () => {
  const path = await Deno.makeTempFile({ prefix: "kvdrive-test-" });
  try {
    for (const size of [0, 1, 16 * 1024, 16 * 1024 + 1, 48 * 1024, 700_001]) {
      const bytes = new Uint8Array(size).map((_, index) => index % 251);
      await Deno.writeFile(path, bytes);
      const pieces = await Array.fromAsync(readFile(path));
      assertEquals(await new Blob(pieces as BlobPart[]).bytes(), bytes);
    }
  } finally {
    await Deno.remove(path);
  }
});
