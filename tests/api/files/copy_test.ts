import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import type { Answer } from "../../support/answer.ts";
import { assertSameBytes, patternBytes } from "../../support/bytes.ts";
import { Drive, Upload } from "../../support/drive.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Copies and moves");

type Kind = "copy" | "move";

async function ask(
  drive: Drive,
  kind: Kind,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return await drive.send("POST", `/files/${kind}`, { body: JSON.stringify(body), headers });
}

test("A copy has the bytes and the type of its source, its own tag, and is created now.", async (drive) => {
  const content = patternBytes(300_000);
  await drive.put("a/b.bin", content, { "Content-Type": "x/y" });
  const answer = (await ask(drive, "copy", { from: "a/b.bin", to: "c" })).expect(201);
  const { project } = drive.owner;
  assertEquals(answer.json, { name: "c", project_id: project, drive_name: drive.name });
  const [source, copy] = await drive.details();
  assertEquals([copy?.content_type, copy?.size], ["x/y", 300_000]);
  assertNotEquals(copy?.etag, source?.etag);
  assert(Date.parse(copy?.created ?? "") >= Date.parse(source?.created ?? ""));
  const download = (await drive.get("c")).expect(200);
  assertSameBytes(download.bytes, content);
  assertEquals(
    download.header("Repr-Digest"),
    (await drive.get("a/b.bin")).header("Repr-Digest"),
  );
  assertEquals(await drive.usage(), { files: 2, bytes: 600_000 });
});

test("A move keeps everything but the name.", async (drive) => {
  await drive.put("a", "abc", { "Content-Type": "x/y" });
  const [before] = await drive.details();
  const answer = (await ask(drive, "move", { from: "a", to: "b" })).expect(200);
  const { project } = drive.owner;
  assertEquals(answer.json, { name: "b", project_id: project, drive_name: drive.name });
  assertEquals(await drive.details(), [{ ...before, name: "b" }]);
  (await drive.get("a")).expect(404);
  assertEquals(await drive.text("b"), "abc");
});

test("A file of many parts is copied, and its source may go.", async (drive) => {
  const parts = [patternBytes(5_000_000), patternBytes(6_000_000), patternBytes(11)];
  const upload = await Upload.start(drive, "film");
  for (const [i, part] of parts.entries()) (await upload.send(i + 1, part)).expect(200);
  (await upload.complete()).expect(200);
  (await ask(drive, "copy", { from: "film", to: "copy" })).expect(201);
  await drive.delete(["film"]);
  const range = (await drive.get("copy", { Range: "bytes=4999999-5000001" })).expect(206);
  assertSameBytes(
    range.bytes,
    new Uint8Array([...(parts[0] ?? []).slice(-1), ...(parts[1] ?? []).slice(0, 2)]),
  );
});

test("The target may be in another drive of the project.", async (drive) => {
  const other = drive.another("target");
  await drive.put("a", "abc");
  (await ask(drive, "copy", { from: "a", to: "a", to_drive: other.name })).expect(201);
  (await ask(drive, "move", { from: "a", to: "b", to_drive: other.name })).expect(200);
  assertEquals([await drive.names(), await other.names()], [[], ["a", "b"]]);
});

test("An existing target is replaced only on demand.", async (drive) => {
  await drive.put("a", "source");
  await drive.put("b", "target");
  for (const kind of ["copy", "move"] as const) {
    const refused = await drive.unchangedBy(() => ask(drive, kind, { from: "a", to: "b" }));
    assertErrorAnswer(refused.expect(409));
    assertMatch(refused.text, /There is a file \\"b\\" already: send \\"overwrite\\": true/);
    await drive.unchangedBy(() => ask(drive, kind, { from: "a", to: "b", overwrite: false }));
  }
  (await ask(drive, "copy", { from: "a", to: "b", overwrite: true })).expect(201);
  assertEquals(await drive.text("b"), "source");
  (await ask(drive, "move", { from: "a", to: "b", overwrite: true })).expect(200);
  assertEquals(await drive.usage(), { files: 1, bytes: 6 });
});

test("`If-Match` is about the source.", async (drive) => {
  await drive.put("a", "abc");
  const etag = await drive.etag("a");
  for (const kind of ["copy", "move"] as const) {
    const wrong = await drive.unchangedBy(() =>
      ask(drive, kind, { from: "a", to: "b" }, { "If-Match": '"other"' })
    );
    assertErrorAnswer(wrong.expect(412));
  }
  (await ask(drive, "move", { from: "a", to: "b" }, { "If-Match": etag })).expect(200);
});

test("Without a source nothing happens.", async (drive) => {
  for (const kind of ["copy", "move"] as const) {
    const answer = await drive.unchangedBy(() => ask(drive, kind, { from: "none", to: "b" }));
    assertErrorAnswer(answer.expect(404));
    const same = await drive.unchangedBy(() => ask(drive, kind, { from: "a", to: "a" }));
    assertErrorAnswer(same.expect(400));
  }
});

const BAD_BODIES: unknown[] = [
  undefined,
  null,
  [],
  "a",
  {},
  { from: "a" },
  { to: "b" },
  { from: 1, to: "b" },
  { from: "a", to: null },
  { from: "", to: "b" },
  { from: "a", to: "b/" },
  { from: "a", to: "\0" },
  { from: "a", to: "x".repeat(1025) },
  { from: "a", to: "b", overwrite: "yes" },
  { from: "a", to: "b", to_drive: "x/y" },
  { from: "a", to: "b", to_drive: "" },
  { from: "a", to: "b", overwrit: true },
  { items: [] },
  { items: {} },
  { items: ["a"] },
  { items: [{ from: "a" }] },
  { items: [{ from: "a", to: "b", overwrite: true }] },
  { items: [{ from: "a", to: "b" }], from: "a", to: "b" },
  { items: Array.from({ length: 1001 }, (_, i) => ({ from: "a", to: `b${i}` })) },
];

test("A body that is not one of the two forms is refused, and changes nothing.", async (drive) => {
  await drive.put("a", "abc");
  for (const kind of ["copy", "move"] as const) {
    for (const body of BAD_BODIES) {
      const text = body === undefined ? "" : JSON.stringify(body);
      const path = `/files/${kind}`;
      const answer = await drive.unchangedBy(() => drive.send("POST", path, { body: text }));
      assertErrorAnswer(answer.expect(400));
    }
    const conditional = await drive.unchangedBy(() =>
      ask(drive, kind, { items: [{ from: "a", to: "b" }] }, { "If-Match": "*" })
    );
    assertErrorAnswer(conditional.expect(400));
  }
});

test("Many files are handled in their order, each on its own.", async (drive) => {
  await drive.putAll(["a", "b", "c", "d"]);
  const items = [
    { from: "a", to: "x" },
    { from: "x", to: "y" },
    { from: "none", to: "z" },
    { from: "b", to: "c" },
    { from: "d", to: "d" },
    { from: "c", to: "a" },
  ];
  const answer = (await ask(drive, "move", { items })).expect(200);
  const { done, failed } = answer.json as { done: string[]; failed: Record<string, string>[] };
  assertEquals(done, ["a", "x", "c"]);
  assertEquals(failed.map(({ name }) => name), ["none", "b", "d"]);
  for (const { error } of failed) assertMatch(error ?? "", /\S/);
  assertEquals(await drive.names(), ["a", "b", "d", "y"]);
  assertEquals([await drive.text("y"), await drive.text("a")], ["a", "c"]);
});

test("A thousand files are moved in one call, back and forth.", async (drive) => {
  const names = Array.from({ length: 1000 }, (_, i) => `from/${String(i).padStart(4, "0")}`);
  await drive.putAll(names);
  const there = names.map((from) => ({ from, to: from.replace("from", "to") }));
  const answer = (await ask(drive, "move", { items: there })).expect(200);
  assertEquals(answer.json, { done: names, failed: [] });
  assertEquals(await drive.names(), there.map(({ to }) => to));
  const back = there.map(({ from, to }) => ({ from: to, to: from }));
  (await ask(drive, "copy", { items: back })).expect(200);
  assertEquals((await drive.usage())?.files, 2000);
  assertEquals(await drive.text("from/0999"), "from/0999");
});

test("While a file is moved to and fro, exactly one of its names exists.", async (drive) => {
  await drive.put("a", "abc");
  let isOver = false;
  const watch = (async () => {
    let seen = 0;
    while (!isOver) {
      const names = await drive.names();
      assertEquals(names.length, 1, names.join());
      seen++;
    }
    return seen;
  })();
  for (let i = 0; i < 100; i++) {
    const [from, to] = i % 2 === 0 ? ["a", "b"] : ["b", "a"];
    (await ask(drive, "move", { from, to })).expect(200);
  }
  isOver = true;
  assert(await watch > 0);
});
