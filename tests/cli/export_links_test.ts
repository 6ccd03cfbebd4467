import { assert, assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace, filesBelow } from "../support/cli/client.ts";
import { zipOf } from "../support/cli/zip.ts";
import { assertRefused } from "../support/command.ts";

/** A folder outside of everything that is exported or imported, with a file in it. */
async function outside(desk: ClientWorkspace): Promise<string> {
  const path = desk.folder.at("outside");
  await Deno.mkdir(`${path}/d`, { recursive: true });
  await Deno.writeTextFile(`${path}/d/secret`, "secret");
  return path;
}

async function namesIn(desk: ClientWorkspace, drive: string): Promise<string[]> {
  const answer = await desk.server.fetch(drive, "/files");
  return (await answer.json() as { names: string[] }).names;
}

Deno.test("An export does not write over links inside its folder, and follows one that is named.", async () => {
  await using desk = await ClientWorkspace.open();
  const path = await outside(desk);
  const at = (name: string) => desk.folder.at(name);
  for (const name of ["secret", "deep/er/file"]) await desk.store("d", name, "theirs");
  const before = await filesBelow(path);
  await Deno.mkdir(at("out/drives/d"), { recursive: true });
  await Deno.symlink(`${path}/d`, at("out/drives/d/deep"));
  const run = await desk.run(["export", "out", "--force"]);
  assertEquals(run.code, 1);
  assertMatch(run.stderr, /^failed: d:deep\/er\/file: .*out\/drives\/d\/deep is.*symbolic link/);
  assertEquals(await Deno.readTextFile(at("out/drives/d/secret")), "theirs");
  await Deno.mkdir(at("index/drives"), { recursive: true });
  await Deno.symlink(`${path}/made`, at("index/kvdrive.jsonl"));
  assertRefused(await desk.run(["export", "index"]), 1, /kvdrive\.jsonl is.*symbolic link/);
  // A link in the place of a file is replaced, not followed.
  await Deno.mkdir(at("file/drives/d"), { recursive: true });
  await Deno.symlink(`${path}/d/secret`, at("file/drives/d/secret"));
  await desk.text("export", "file", "--force");
  assert((await Deno.lstat(at("file/drives/d/secret"))).isFile);
  await Deno.symlink(`${path}/d/secret`, at("out.zip.part"));
  assertRefused(await desk.run(["export", "out.zip"]), 1, /symbolic link/);
  assertEquals(await filesBelow(path), before);
  await Deno.mkdir(at("real"));
  await Deno.symlink("real", at("named"));
  await desk.text("export", "named");
  assertEquals(await Deno.readTextFile(at("real/drives/d/secret")), "theirs");
});

Deno.test("An export in a wrapping folder is imported, and other folders are refused.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "content", "text/x-own");
  await desk.text("export", "wrap/export");
  const index = await Deno.readTextFile(desk.folder.at("wrap/export/kvdrive.jsonl"));
  const entries = [
    { path: "my export/", bytes: "" },
    { path: "my export/kvdrive.jsonl", bytes: index.trim() },
    { path: "my export/drives/d/a", bytes: "content" },
    { path: "__MACOSX/my export/drives/d/._a", bytes: "x" },
  ];
  await desk.folder.write("wrap.zip", zipOf(entries));
  for (const source of ["wrap", "wrap.zip"]) {
    await desk.text("rm", "d:a", "--yes");
    assertEquals(await desk.text("import", source), "Copied 1 file (7 B)\n", source);
    const file = await desk.server.fetch("d", "/files/download?name=a");
    assertEquals([file.headers.get("content-type"), await file.text()], ["text/x-own", "content"]);
  }
  await desk.folder.write("none.zip", zipOf([{ path: "photos/cat.jpg", bytes: "cat" }]));
  const refusals: [args: string[], says: RegExp][] = [
    [["none.zip"], /none\.zip has no folder "drives": .*drives\/DRIVE\/FILE/],
    [["wrap", "--drive", "typo"], /The export has no drive "typo"/],
  ];
  for (const [args, says] of refusals) assertRefused(await desk.run(["import", ...args]), 1, says);
});

Deno.test("An export without files can be imported.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const target of ["out", "out.zip"]) {
    await desk.text("export", target);
    assertEquals(await desk.text("import", target), "Copied 0 files (0 B)\n");
  }
});

Deno.test("An impossible entry of the index is reported at once, and the other files are imported.", async () => {
  await using desk = await ClientWorkspace.open();
  const cases: [field: string, value: unknown, says: RegExp][] = [
    ["content_type", "text/plain\r\nX-Evil: 1", /content type .*"text\/plain\\\\r\\\\n.*header/],
    ["content_type", "text/\u{1f600}", /content type .* header/],
    ["content_type", "x".repeat(256), /256 characters/],
    ["drive", "a/b", /drive name .*\\"\/\\"/],
    ["name", "", /file name .*empty/],
    ["size", "big", /size .*number/],
  ];
  const lines = cases.map(([field, value], index) => {
    const path = `drives/d/bad${index}`;
    const entry = { drive: "d", name: `bad${index}`, path, size: 1, content_type: "", etag: "" };
    return JSON.stringify({ ...entry, [field]: value });
  });
  await Deno.mkdir(desk.folder.at("out/drives/d"), { recursive: true });
  await desk.folder.write("out/drives/d/good", "good");
  for (const index of cases.keys()) await desk.folder.write(`out/drives/d/bad${index}`, "x");
  await desk.folder.write("out/kvdrive.jsonl", lines.join("\n"));
  const began = performance.now();
  for (const way of [[], ["--data", desk.server.data]]) {
    const run = await desk.run(["import", "out", "--json", ...way]);
    assertEquals(run.code, 1, run.stderr);
    const { failed } = JSON.parse(run.stdout) as { failed: { reason: string }[] };
    assertEquals(failed.length, cases.length);
    for (const [, , says] of cases) {
      assert(failed.some(({ reason }) => says.test(JSON.stringify(reason))), `${says}`);
    }
    assertEquals(await namesIn(desk, "d"), ["good"]);
  }
  // The client tries again for five minutes what may pass.
  assert(performance.now() - began < 60_000);
  const put = await desk.run(["put", "out/drives/d/good", "d:x", "--type", "a\r\nb"]);
  assertRefused(put, 2, /content type of --type .*header/);
});
