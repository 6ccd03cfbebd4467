import { assert, assertEquals, assertMatch } from "@std/assert";
import { dirname } from "@std/path/dirname";
import { ClientWorkspace, filesBelow } from "../support/cli/client.ts";
import { type ZipEntry, zipOf } from "../support/cli/zip.ts";
import { AWKWARD_NAMES } from "../support/names.ts";
import { PROJECT_ID } from "../support/server.ts";
import { drivesOf, emptyAll, Report, report } from "../support/cli/exports.ts";

/** All files of all drives: types and bytes by drive and name. */
async function everything(desk: ClientWorkspace): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const drive of await drivesOf(desk)) {
    const answer = await desk.server.fetch(drive, "/files");
    for (const name of (await answer.json() as { names: string[] }).names) {
      const path = `/files/download?${new URLSearchParams({ name })}`;
      const file = await desk.server.fetch(drive, path);
      const type = file.headers.get("content-type");
      files.set(JSON.stringify([drive, name]), `${type} ${await file.text()}`);
    }
  }
  return files;
}

/** Drives with all names that a file system finds hard, each with bytes and a type of its own. */
async function fillAwkwardly(desk: ClientWorkspace): Promise<void> {
  const names = [
    ...AWKWARD_NAMES.map(({ name }) => name),
    "x",
    "x/y",
    "X/z",
    "x%1/y",
    "%",
    "long".repeat(200),
    "long".repeat(200) + "er",
    `${"deep/".repeat(150)}end`,
    "kvdrive.jsonl",
    ".kvdrive-partial/a",
  ];
  for (const [index, name] of names.entries()) {
    await desk.store("d: *", name, `bytes ${index}`, `text/x-${index}`);
  }
  await desk.store("D: *", "x", "other drive");
  await desk.store("plain", "a/b.txt", "plain");
  await desk.store("empty", "nothing", "");
}

Deno.test("Export and import keep all names and bytes: to a folder, an archive, or another server.", async () => {
  await using desk = await ClientWorkspace.open();
  await fillAwkwardly(desk);
  const before = await everything(desk);
  const store = ["--data", desk.server.data, "--project", PROJECT_ID];
  for (
    const [target, ways] of [["out", []], ["out.zip", []], ["past", store], [
      "past.zip",
      store,
    ]] as const
  ) {
    const exported = await report(desk, "export", target, ...ways);
    assertEquals([exported.copied, exported.skipped, exported.failed], [before.size, [], []]);
    const again = target.endsWith(".zip")
      ? undefined
      : await report(desk, "export", target, ...ways);
    if (again !== undefined) assertEquals([again.copied, again.unchanged], [0, before.size]);
    await emptyAll(desk);
    const imported = await report(desk, "import", target, ...ways);
    assertEquals([imported.copied, imported.skipped, imported.failed], [before.size, [], []]);
    assertEquals(await everything(desk), before, target);
    const twice = await report(desk, "import", target, ...ways);
    assertEquals([twice.copied, twice.unchanged, twice.failed], [0, before.size, []]);
  }
  // Plain names are plain files.
  assertEquals(await Deno.readTextFile(desk.folder.at("out/drives/plain/a/b.txt")), "plain");
  for (const [path] of await filesBelow(desk.folder.at("out"))) {
    assert(path === "kvdrive.jsonl" || path.startsWith("drives/"), path);
  }
});

Deno.test("Export and import keep the client times, and a file without one gets none.", async () => {
  await using desk = await ClientWorkspace.open();
  const mtime = "1999-12-31T23:59:59.123Z";
  for (const query of [`name=timed&mtime=${mtime}`, "name=plain"]) {
    const sent = await desk.server.fetch("d", `/files?${query}`, { method: "POST", body: "x" });
    await sent.body?.cancel();
  }
  const timesOf = async () => {
    const files = await desk.json<{ name: string; mtime?: string }>("ls", "d", "--recursive");
    return files.map(({ name, mtime }) => [name, mtime]);
  };
  for (const target of ["out", "out.zip"]) {
    for (const ways of [[], ["--data", desk.server.data, "--project", PROJECT_ID]]) {
      await report(desk, "export", target, ...ways);
      if (target === "out") {
        const timed = await Deno.stat(desk.folder.at("out/drives/d/timed"));
        assertEquals(timed.mtime, new Date(mtime));
      }
      await emptyAll(desk);
      await report(desk, "import", target, ...ways);
      assertEquals(await timesOf(), [["plain", undefined], ["timed", mtime]]);
      await Deno.remove(desk.folder.at(target), { recursive: true });
    }
  }
});

Deno.test("A file of a folder that is no export of kvdrive is imported with its own time.", async () => {
  await using desk = await ClientWorkspace.open();
  const mtime = new Date(Date.UTC(2001, 1, 3, 4, 5, 6, 789));
  await Deno.mkdir(desk.folder.at("out/drives/d"), { recursive: true });
  await desk.folder.write("out/drives/d/a", "x");
  await Deno.utime(desk.folder.at("out/drives/d/a"), mtime, mtime);
  await report(desk, "import", "out");
  const [facts] = await desk.json<{ mtime: string }>("stat", "d:a");
  assertEquals(facts?.mtime, mtime.toISOString());
});

Deno.test("An export of the original service is imported from a folder and from an archive.", async () => {
  await using desk = await ClientWorkspace.open();
  const files: ZipEntry[] = [
    { path: "drives/photos/cat.jpg", bytes: "cat", deflate: true },
    { path: "drives/photos/2021/100% dog.png", bytes: "dog" },
    { path: "drives/notes/ä.txt", bytes: "note", deflate: true },
  ];
  for (const { path, bytes } of files) {
    await Deno.mkdir(dirname(desk.folder.at(`export/${path}`)), { recursive: true });
    await desk.folder.write(`export/${path}`, bytes);
  }
  await desk.folder.write("export/readme.txt", "not in a drive");
  await desk.folder.write("export.zip", zipOf([...files, { path: "readme.txt", bytes: "no" }]));
  const want = new Map([
    ['["notes","ä.txt"]', "text/plain note"],
    ['["photos","2021/100% dog.png"]', "image/png dog"],
    ['["photos","cat.jpg"]', "image/jpeg cat"],
  ]);
  for (const source of ["export", "export.zip"]) {
    const { copied, skipped, failed } = await report(desk, "import", source);
    assertEquals([copied, skipped, failed], [3, [], []]);
    assertEquals(await everything(desk), want);
    await emptyAll(desk);
  }
});

Deno.test("An archive with false headers writes nothing outside of its place, and its valid files are imported.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.folder.write(
    "bad.zip",
    zipOf([
      { path: "drives/d/good", bytes: "good" },
      { path: "drives/d/good", bytes: "twice" },
      { path: "../outside", bytes: "x" },
      { path: "/drives/d/absolute", bytes: "x" },
      { path: "drives/d/../../up", bytes: "a name like others" },
      { path: "drives/d/folder/", bytes: "" },
      { path: "drives/beside", bytes: "x" },
      { path: "drives/d/link", bytes: "/etc/passwd", mode: 0o120777 },
      { path: "drives/d/crc", bytes: "x", crc: 1 },
      { path: "drives/d/short", bytes: "12345", deflate: true, size: 9 },
      { path: "drives/d/bomb", bytes: "0".repeat(100_000), deflate: true, size: 5 },
      { path: "drives/d/secret", bytes: "x", flags: 1 },
      { path: "drives/d/other", bytes: "x".repeat(20), deflate: true, method: 12 },
    ]),
  );
  const run = await desk.run(["import", "bad.zip", "--json"]);
  assertEquals(run.code, 1, run.stderr);
  const { copied, skipped, failed } = JSON.parse(run.stdout) as Report;
  assertEquals(copied, 2);
  assertEquals(failed.map(({ name }) => name).sort(), ["bomb", "crc", "short"]);
  assertEquals(skipped.map(({ name, reason }) => `${name}: ${reason}`).sort(), [
    ": it is in no drive",
    "good: it is in the archive twice",
    "link: it is a symbolic link",
    "other: its compression method (12) is not supported",
    "secret: it is encrypted",
  ]);
  const names = (await desk.json<{ name: string }>("ls", "d", "-r")).map(({ name }) => name);
  assertEquals(names, ["../../up", "good"]);
  assertEquals(await desk.stored("d", "good"), new TextEncoder().encode("good"));
  const entries = [...Deno.readDirSync(desk.folder.path)].map(({ name }) => name).sort();
  assertEquals(entries, ["bad.zip", "state"].filter((name) => entries.includes(name)));
  for (const [name, bytes] of [["none.zip", "no archive"], ["empty.zip", ""]] as const) {
    await desk.folder.write(name, bytes);
    const refused = await desk.run(["import", name]);
    assertEquals([refused.code, refused.stdout], [1, ""]);
    assertMatch(refused.stderr, /^kvdrive: Cannot read the archive [^\n]+\n$/);
  }
});

Deno.test("Existing files of the same names are kept and reported, unless --force is given.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "mine");
  await desk.store("d", "b", "same");
  await desk.text("export", "out");
  await desk.store("d", "a", "later");
  await desk.text("rm", "d:b", "--yes");
  const run = await desk.run(["import", "out", "--json"]);
  assertEquals(run.code, 1);
  const { copied, failed } = JSON.parse(run.stdout) as Report;
  assertEquals([copied, failed.map(({ name }) => name)], [1, ["a"]]);
  assertMatch(run.stderr, /^failed: d:a: Another file[^\n]*--force[^\n]*\n/);
  assertEquals(await desk.stored("d", "a"), new TextEncoder().encode("later"));
  await desk.text("import", "out", "--force");
  assertEquals(await desk.stored("d", "a"), new TextEncoder().encode("mine"));
  // What was deleted in the drive stays in the folder, and is named.
  await desk.text("rm", "d:b", "--yes");
  const { skipped } = await report(desk, "export", "out");
  assertEquals(skipped.map(({ name }) => name), ["b"]);
  // Files of other programs are not overwritten.
  await Deno.mkdir(desk.folder.at("theirs/drives/d"), { recursive: true });
  await desk.folder.write("theirs/drives/d/a", "theirs");
  const refused = await desk.run(["export", "theirs"]);
  assertEquals(refused.code, 1);
  assertEquals(await Deno.readTextFile(desk.folder.at("theirs/drives/d/a")), "theirs");
  assertEquals((await desk.run(["export", "out.zip"])).code, 0);
  assertMatch((await desk.run(["export", "out.zip"])).stderr, /exists/);
});

Deno.test("A folder may have the ending of a file, and a file is no folder.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "x", "1");
  for (const path of ["out.tar/", "out.tar", "2024.12"]) {
    assertEquals((await report(desk, "export", path)).failed, [], path);
    assertEquals(await Deno.readTextFile(desk.folder.at(`${path}/drives/d/x`)), "1");
  }
  await desk.folder.write("file", "theirs");
  const refused = await desk.run(["export", "file", "--force"]);
  assertEquals([refused.code, refused.stdout], [2, ""]);
  assertEquals(await Deno.readTextFile(desk.folder.at("file")), "theirs");
});

Deno.test("One drive alone can be moved, and what there is not is refused.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("a", "x", "1");
  await desk.store("b", "y", "2");
  assertEquals((await report(desk, "export", "out", "--drive", "a")).copied, 1);
  assertEquals((await report(desk, "export", "both")).copied, 2);
  await desk.text("rm", "a:", "b:", "-r", "--yes");
  assertEquals((await report(desk, "import", "both", "--drive", "b")).copied, 1);
  assertEquals(await desk.stored("a", "x"), undefined);
  const refusals: [args: string[], code: number, says: RegExp][] = [
    [["export", "new", "--drive", "never"], 1, /no drive "never"/],
    [["export", "new", "--project", "other"], 2, /another project/],
    [["export", "new", "--data", "nowhere"], 1, /There is no store/],
    [["export", "new", "--data", desk.server.data, "--project", "other"], 1, /no project/],
    [
      ["export", "new.tar"],
      2,
      /Cannot export to new\.tar: .*\.zip\. Write new\.tar\/ for a folder/,
    ],
    [["export", "new.tgz", "--force"], 2, /Cannot export to new\.tgz/],
    [["import", "new"], 1, /There is no folder new: give/],
    [["import", "new.zip"], 1, /Cannot read the archive/],
  ];
  for (const [args, code, says] of refusals) {
    const run = await desk.run(args);
    assertEquals([run.code, run.stdout], [code, ""], run.stderr);
    assertMatch(run.stderr, says);
    assert(!await desk.folder.has("new"), args.join(" "));
  }
});

Deno.test("An import reports a project without room, and can be resumed when there is room.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "1".repeat(400));
  await desk.store("d", "b", "2".repeat(700));
  await desk.text("export", "out");
  const data = ["--data", desk.server.data];
  const limit = async (size: string) =>
    await desk.text("project", "change", PROJECT_ID, "--max-bytes", size, ...data);
  for (const way of [[], [...data, "--project", PROJECT_ID]]) {
    await emptyAll(desk);
    await limit("1000");
    const run = await desk.run(["import", "out", ...way]);
    assertEquals([run.code, run.stdout], [1, ""]);
    assertMatch(
      run.stderr,
      /^kvdrive: [^\n]*of its 1\.0 kB in use and cannot take \d00 B more[^\n]*\n$/,
    );
    await limit("none");
    assertEquals((await report(desk, "import", "out", ...way)).failed, []);
    assertEquals((await desk.stored("d", "b"))?.byteLength, 700);
  }
});
