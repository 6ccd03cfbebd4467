import { assertEquals, assertRejects } from "@std/assert";
import { NameFilter } from "../../rules/globs.ts";
import { compareNames } from "../../rules/names.ts";
import { ClientError } from "../errors.ts";
import { localTree, type TreeEntry } from "./tree.ts";

async function entriesOf(root: string, filter = new NameFilter({})): Promise<TreeEntry[]> {
  return await Array.fromAsync(localTree(root, { filter }));
}

async function withFolder(test: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir();
  try {
    await test(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("Names are listed in the order of their UTF-8 bytes, folders before what is in them", async () => {
  await withFolder(async (root) => {
    for (const folder of ["a", "a/b", "empty", "a-b"]) await Deno.mkdir(`${root}/${folder}`);
    const files = ["a.txt", "a/b/c", "a/b.c", "a-b/x", "\u{ffff}", "\u{1f600}", "B", "a\\b"];
    for (const file of files) await Deno.writeTextFile(`${root}/${file}`, "x");
    const names = (await entriesOf(root)).map(({ name }) => name);
    const expected = [...files, "a/", "a/b/", "empty/", "a-b/"].sort(compareNames);
    assertEquals(names, expected);
    const empty = (await entriesOf(root)).filter((one) => one.kind === "folder" && one.isEmpty);
    assertEquals(empty.map(({ name }) => name), ["empty/"]);
  });
});

Deno.test("Links and pipes are problems, and links are not followed", async () => {
  await withFolder(async (root) => {
    await Deno.mkdir(`${root}/real`);
    await Deno.writeTextFile(`${root}/real/x`, "x");
    await Deno.symlink("real", `${root}/folder`);
    await Deno.symlink("/nowhere", `${root}/dead`);
    const found = (await entriesOf(root)).filter((one) => one.kind === "problem");
    assertEquals(found.map(({ name, effect }) => [name, effect]), [
      ["dead", "ignored"],
      ["folder", "ignored"],
    ]);
  });
});

Deno.test("Incomplete downloads are not in the tree", async () => {
  await withFolder(async (root) => {
    const part = `.kvdrive-${"0".repeat(32)}.part`;
    await Deno.mkdir(`${root}/a`);
    await Deno.writeTextFile(`${root}/a/${part}`, "x");
    await Deno.writeTextFile(`${root}/.kvdrive-x.part`, "x");
    const parts: string[] = [];
    const filter = new NameFilter({});
    const tree = localTree(root, { filter, onPart: (path) => parts.push(path) });
    const names = (await Array.fromAsync(tree)).map(({ name }) => name);
    assertEquals([names, parts], [[".kvdrive-x.part", "a/"], [`${root}/a/${part}`]]);
  });
});

Deno.test("What a filter leaves out is not read", async () => {
  await withFolder(async (root) => {
    await Deno.mkdir(`${root}/cache/deep`, { recursive: true });
    await Deno.mkdir(`${root}/a`);
    for (const file of ["a/x.tmp", "a/y", "cache/z"]) {
      await Deno.writeTextFile(`${root}/${file}`, "");
    }
    const filter = new NameFilter({ exclude: ["cache/", "*.tmp"] });
    assertEquals((await entriesOf(root, filter)).map(({ name }) => name), ["a/", "a/y"]);
  });
});

Deno.test("A name that is not UTF-8 is a problem", async () => {
  await withFolder(async (root) => {
    const script = `cd "$1" && : > "$(printf 'a\\377')"`;
    const { success } = await new Deno.Command("sh", { args: ["-c", script, "sh", root] }).output();
    // Not every file system has such names.
    if (!success) return;
    const [found] = await entriesOf(root);
    assertEquals([found?.kind, found?.name], ["problem", "a\ufffd"]);
  });
});

Deno.test("A root that does not exist is an error", async () => {
  await withFolder(async (root) => {
    await assertRejects(() => entriesOf(`${root}/none`), ClientError, "Cannot read");
  });
});
