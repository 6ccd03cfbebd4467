import { assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace, someBytes } from "../support/cli/client.ts";

const HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

async function names(desk: ClientWorkspace, ...args: string[]): Promise<string[]> {
  return (await desk.json<{ name: string }>(...args)).map(({ name }) => name);
}

Deno.test("Patterns select in ls, and a backslash makes a wildcard a character.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a.gif", "b.gif", "*.gif", "in/c.gif", "in/d/e.gif", "[1].txt"]) {
    await desk.store("d", name, "hello");
  }
  assertEquals(await names(desk, "ls", "d:*.gif"), ["*.gif", "a.gif", "b.gif"]);
  assertEquals(await names(desk, "ls", "d:\\*.gif"), ["*.gif"]);
  assertEquals(await names(desk, "ls", "d:?.gif"), ["*.gif", "a.gif", "b.gif"]);
  assertEquals(await names(desk, "ls", "d:[1].txt"), ["[1].txt"]);
  assertEquals(await names(desk, "ls", "d:in/*"), ["in/c.gif", "in/d/"]);
  assertEquals(await names(desk, "ls", "d:in/**"), ["in/c.gif", "in/d/e.gif"]);
  assertEquals(await names(desk, "ls", "d:*/*/e.gif"), ["in/d/e.gif"]);
  const none = await desk.run(["ls", "d:*.png"]);
  assertEquals([none.code, none.stderr], [1, "kvdrive: No file matches d:*.png\n"]);
});

Deno.test("Digests are shown in hexadecimal digits.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "hello");
  await desk.store("d", "in/b", "hello");
  assertMatch(await desk.text("stat", "d:a"), new RegExp(`^sha256: +${HELLO}$`, "m"));
  const listed = await desk.json<{ name: string; sha256?: string }>("ls", "d", "--digest");
  assertEquals(listed.map(({ sha256 }) => sha256), [HELLO, undefined]);
  assertMatch(await desk.text("ls", "d", "--digest"), new RegExp(`  ${HELLO}  a\n`));
  const found = await desk.json<{ sha256: string }>("find", "d:", "--digest");
  assertEquals(found.map(({ sha256 }) => sha256), [HELLO, HELLO]);
  const facts = await desk.json<{ name: string; sha256: string }>("stat", "d:a", "d:**");
  assertEquals(facts.map(({ name, sha256 }) => [name, sha256 === HELLO]), [
    ["a", true],
    ["a", true],
    ["in/b", true],
  ]);
});

Deno.test("find searches by name, size and age, and prints operands of other commands.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.folder.write("old.txt", "hello");
  await Deno.utime(desk.folder.at("old.txt"), 1_000_000_000, 1_000_000_000);
  await desk.text("put", "old.txt", "d:x/");
  for (const name of ["x/new.txt", "x/y/*.txt", "z.txt"]) await desk.store("d", name, "hello!");
  const all = await desk.text("find", "d:");
  assertEquals(all, "d:x/new.txt\nd:x/old.txt\nd:x/y/\\*.txt\nd:z.txt\n");
  assertEquals(
    await desk.text("find", "d:x/", "--name", "*.txt", "--newer", "7d"),
    "d:x/new.txt\nd:x/y/\\*.txt\n",
  );
  assertEquals(await names(desk, "find", "d", "--name", "x/*.txt"), ["x/new.txt", "x/old.txt"]);
  assertEquals(await names(desk, "find", "d:", "--size", "5"), ["x/old.txt"]);
  assertEquals(await names(desk, "find", "d:", "--size", "-6"), ["x/old.txt"]);
  assertEquals((await names(desk, "find", "d:", "--size", "+5")).length, 3);
  assertEquals(await desk.text("find", "d:", "--size", "+1MB"), "");
  assertEquals((await desk.run(["find", "d:", "--size", "big"])).code, 2);
  assertEquals((await desk.run(["find", "d:", "--newer", "soon"])).code, 2);
});

Deno.test("du counts the files and bytes of folders.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a", "in/b", "in/c/d", "z/e"]) await desk.store("d", name, "hello");
  const rows = await desk.json("du", "d");
  assertEquals(rows, [
    { drive: "d", name: "in/", files: 2, bytes: 10 },
    { drive: "d", name: "z/", files: 1, bytes: 5 },
    { drive: "d", name: "", files: 4, bytes: 20 },
  ]);
  assertMatch(
    await desk.text("du", "d:in/"),
    /^ +5 {2}1 file {2}d:in\/c\/\n +10 {2}2 files {2}d:in\/\n$/,
  );
  assertEquals((await desk.json("du")).length, 1);
  assertEquals((await desk.run(["du", "d:*"])).code, 2);
});

Deno.test("cat writes files, or a range of their bytes.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a", "b"]) await desk.store("d", name, `hello ${name}`);
  await desk.store("d", "empty", "");
  assertEquals(await desk.text("cat", "d:a", "d:empty", "d:b"), "hello ahello b");
  assertEquals(await desk.text("cat", "d:?"), "hello ahello b");
  const ranges: [string, string][] = [["0-4", "hello"], ["6-", "a"], ["-3", "o a"], ["5-99", " a"]];
  for (const [range, text] of ranges) {
    assertEquals(await desk.text("cat", "d:a", "--range", range), text);
  }
  const outside = await desk.run(["cat", "d:a", "--range", "7-"]);
  assertEquals([outside.code, outside.stdout], [1, ""]);
  assertMatch(outside.stderr, /d:a has 7 bytes, none of which are in 7-/);
  for (const range of ["x", "5-1", "1-2,4-5"]) {
    assertEquals((await desk.run(["cat", "d:a", "--range", range])).code, 2);
  }
  assertEquals((await desk.run(["cat", "d:none"])).code, 1);
  const bytes = someBytes(12_000_000);
  await desk.folder.write("large", bytes);
  await desk.text("put", "large", "d:");
  await desk.text("get", "d:large", "back");
  assertEquals((await Deno.readFile(desk.folder.at("back"))).byteLength, bytes.byteLength);
});

Deno.test("rm deletes what patterns and filters select, and folders with what they keep.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a.tmp", "b.tmp", "*.tmp", "in/c.tmp", "in/d", "e"]) {
    await desk.store("d", name, "x");
  }
  const init = { method: "POST", body: '{"name": "in/kept/"}' };
  await desk.server.fetch("d", "/folders", init);
  assertEquals(await desk.text("rm", "d:\\*.tmp", "--yes"), "Deleted 1 file\n");
  assertEquals(await desk.text("rm", "d:*.tmp", "--yes", "--exclude", "b*"), "Deleted 1 file\n");
  assertEquals(await names(desk, "find", "d:"), ["b.tmp", "e", "in/c.tmp", "in/d"]);
  const folder = await desk.run(["rm", "d:in", "--yes"]);
  assertEquals(folder.code, 1);
  assertMatch(folder.stderr, /d:in\/ is a folder: --recursive/);
  const none = await desk.run(["rm", "d:*.png", "d:e", "--yes"]);
  assertEquals([none.code, none.stdout], [1, "Deleted 1 file\n"]);
  assertMatch(none.stderr, /No file matches d:\*\.png/);
  assertEquals(await desk.text("rm", "d:in", "-r", "--yes"), "Deleted 2 files\n");
  const kept = await (await desk.server.fetch("d", "/folders")).json();
  assertEquals([await names(desk, "find", "d:"), kept], [["b.tmp"], { folders: [] }]);
});
