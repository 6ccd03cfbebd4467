import { assert, assertEquals } from "@std/assert";
import { join } from "@std/path/join";
import { utf8 } from "../../support/bytes.ts";
import { query, Upload } from "../../support/drive.ts";
import { AWKWARD_NAMES, byUtf8Bytes } from "../../support/names.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("A file name is kept byte for byte");

for (const { what, name } of AWKWARD_NAMES) {
  test(`A name with ${what} is a file's name like any other.`, async (drive) => {
    const put = (await drive.put(name, what)).json as { name: string };
    assertEquals(put.name, name);
    assertEquals(await drive.text(name), what);
    assertEquals(await drive.names(), [name]);
    assertEquals(await drive.names({ prefix: name }), [name]);
    assertEquals(await drive.names({ last: name }), []);
    const upload = await Upload.start(drive, name);
    (await upload.send(1, utf8(`${what}, in parts`))).expect(200);
    const completed = (await upload.complete()).expect(200).json as { name: string };
    assertEquals(completed.name, name);
    assertEquals(await drive.text(name), `${what}, in parts`);
    assertEquals(await drive.delete([name]), { deleted: [name], failed: [] });
    (await drive.get(name)).expect(404);
  });
}

test("All the awkward names are different files of one drive.", async (drive) => {
  for (const { what, name } of AWKWARD_NAMES) await drive.put(name, what);
  const names = AWKWARD_NAMES.map(({ name }) => name);
  assertEquals(await drive.names(), names.toSorted(byUtf8Bytes));
  for (const { what, name } of AWKWARD_NAMES) assertEquals(await drive.text(name), what);
  await drive.delete(["caf\u00e9", "\ufeffa", "a\ufffdb", ".."]);
  const gone = ["caf\u00e9", "\ufeffa", "a\ufffdb", ".."];
  assertEquals(
    await drive.names(),
    names.filter((name) => !gone.includes(name)).toSorted(byUtf8Bytes),
  );
});

// "either Unicode normal form"
test("The two normal forms of one text are two files.", async (drive) => {
  await drive.put("\u00e9", "composed");
  await drive.put("e\u0301", "decomposed");
  assertEquals(await drive.text("\u00e9"), "composed");
  assertEquals(await drive.text("e\u0301"), "decomposed");
  assertEquals(await drive.names(), ["e\u0301", "\u00e9"]);
});

// "untrimmed"
test("Spaces around a name make it another name.", async (drive) => {
  const names = ["\ta", " a", "a", "a ", "a\n"];
  for (const name of names) await drive.put(name, JSON.stringify(name));
  for (const name of names) assertEquals(await drive.text(name), JSON.stringify(name));
  assertEquals(await drive.names(), names.toSorted(byUtf8Bytes));
});

const LONGEST: [string, string][] = [
  ["1024 letters", "x".repeat(1_024)],
  ["1024 bytes in 512 letters", "é".repeat(512)],
  ["1024 bytes in 256 emoji", "🦖".repeat(256)],
  ["1024 control characters", "\u0001".repeat(1_024)],
  ["1023 slashes and a letter", "/".repeat(1_023) + "x"],
];

for (const [what, name] of LONGEST) {
  test(`A name may have ${what}.`, async (drive) => {
    await drive.put(name, "short");
    await drive.put(name, "x".repeat(100_000));
    assertEquals((await drive.text(name)).length, 100_000);
    assertEquals(await drive.names(), [name]);
    const upload = await Upload.start(drive, name);
    (await upload.send(1, utf8("x".repeat(200_000)))).expect(200);
    (await upload.complete()).expect(200);
    assertEquals((await drive.text(name)).length, 200_000);
    assertEquals(await drive.delete([name]), { deleted: [name], failed: [] });
    assertEquals(await drive.usage(), { files: 0, bytes: 0 });
  });
}

const REFUSED: [string, string][] = [
  ["empty", ""],
  ["a space", " "],
  ["white space", " \t\r\n "],
  ["a no-break space", "\u00a0"],
  ["an ideographic space", "\u3000"],
  ["a slash", "/"],
  ["like a directory", "dir/"],
  ["slashes alone", "//"],
  ["a space and a slash", " /"],
  ["NUL", "\u0000"],
  ["with NUL inside", "a\u0000b"],
  ["with NUL at the end", "a.txt\u0000"],
  ["1025 letters", "x".repeat(1_025)],
  ["1025 bytes in 513 letters", "é".repeat(512) + "x"],
  ["1028 bytes in 257 emoji", "🦖".repeat(257)],
  ["very long", "x".repeat(20_000)],
];

for (const [what, name] of REFUSED) {
  test(`A name may not be ${what}.`, async (drive) => {
    await drive.putAll(["a", "dir"]);
    const calls: [string, string][] = [
      ["POST", `/files${query({ name })}`],
      ["POST", `/uploads${query({ name })}`],
      ["GET", `/files/download${query({ name })}`],
    ];
    for (const [method, path] of calls) {
      const options = method === "POST" ? { body: "x" } : {};
      const answer = await drive.unchangedBy(() => drive.send(method, path, options));
      assertErrorAnswer(answer.expect(400));
      assert(answer.text.includes("name"), answer.text);
    }
  });
}

// "A name is a key, never a path on a disk."
test("No name of a file becomes a name on the disk.", async (drive) => {
  const marker = "kvdrive-marker-in-a-name";
  const { data } = drive.server;
  const above = join(data, "..");
  const up = "../".repeat(12);
  await drive.putAll([marker, `../${marker}`, `${up}${above}/${marker}`, `${above}/${marker}`]);
  await drive.put(`${data}/${marker}`, "x".repeat(100_000));
  const places = [data, above, "."];
  for (const place of places) {
    for await (const entry of Deno.readDir(place)) assert(!entry.name.includes(marker), place);
  }
});
