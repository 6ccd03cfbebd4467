import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { ClientWorkspace, filesBelow } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";

/** Writes files with their names as text below a folder of the workspace. */
async function fill(
  desk: ClientWorkspace,
  folder: string,
  names: readonly string[],
): Promise<void> {
  await Deno.mkdir(desk.folder.at(folder), { recursive: true });
  for (const name of names) {
    const path = desk.folder.at(`${folder}/${name}`);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, name);
  }
}

async function setTime(desk: ClientWorkspace, path: string, time: number): Promise<void> {
  await Deno.utime(desk.folder.at(path), time, time);
}

/** The names in a drive, and the folders that it keeps. */
async function namesIn(desk: ClientWorkspace, drive: string): Promise<string[]> {
  const files = await (await desk.server.fetch(drive, "/files")).json() as { names: string[] };
  const kept = await (await desk.server.fetch(drive, "/folders")).json() as { folders: string[] };
  return [...files.names, ...kept.folders].sort();
}

async function localNames(desk: ClientWorkspace, folder: string): Promise<string[]> {
  return [...(await filesBelow(desk.folder.at(folder))).keys()];
}

Deno.test("Only differences travel, times go both ways, and the second run sends nothing.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  const names = ["a.txt", "a/b", "a/é 😀", "a/c/d\\e f"];
  await fill(desk, "here", names);
  await setTime(desk, "here/a.txt", 981_173_106.789);
  await Deno.mkdir(desk.folder.at("here/empty/deep"), { recursive: true });
  assertMatch(
    await desk.text("sync", "here", "d:x"),
    /^Transferred 4 files .*; 0 files up to date\n$/,
  );
  assertEquals(
    await namesIn(desk, "d"),
    [...names, "empty/deep/"].map((name) => `x/${name}`).sort(),
  );
  assertMatch(await desk.text("sync", "d:x/", "there"), /^Transferred 4 files/);
  assertEquals(await localNames(desk, "there"), await localNames(desk, "here"));
  assert((await Deno.stat(desk.folder.at("there/empty/deep"))).isDirectory);
  assertEquals((await Deno.stat(desk.folder.at("there/a.txt"))).mtime?.getTime(), 981_173_106_789);
  for (const args of [["here", "d:x"], ["d:x", "there"], ["there", "d:x"]]) {
    proxy.seen.length = 0;
    const run = await desk.run(["sync", ...args, "--delete"], { url: proxy.origin });
    assertEquals([run.code, run.stdout], [0, "Transferred 0 files (0 B); 4 files up to date\n"]);
    assertEquals(
      proxy.seen.filter(({ method, path }) => method !== "GET" || /download/.test(path)),
      [],
    );
  }
  await Deno.writeTextFile(desk.folder.at("here/a/b"), "changed");
  await setTime(desk, "here/a.txt", 981_173_200);
  assertMatch(
    await desk.text("sync", "here/", "d:x/"),
    /^Transferred 2 files .*; 2 files up to date/,
  );
  await desk.text("sync", "d:x", "there");
  assertEquals(await filesBelow(desk.folder.at("there")), await filesBelow(desk.folder.at("here")));
});

Deno.test("What is extra is deleted if that is asked for, with the folders that it leaves empty.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "here", ["a", "b/c", "b/d/e", "f"]);
  await desk.text("sync", "here", "d:");
  await desk.text("sync", "d:", "there");
  await Deno.remove(desk.folder.at("here/b"), { recursive: true });
  await Deno.mkdir(desk.folder.at("here/g"));
  assertMatch(
    await desk.text("sync", "here", "d:"),
    /^Transferred 0 files .*; 2 files up to date\n/,
  );
  assertEquals(await namesIn(desk, "d"), ["a", "b/c", "b/d/e", "f", "g/"]);
  const planned = await desk.text("sync", "here", "d:", "--delete", "--dry-run");
  assertEquals(planned.split("\n").slice(0, 2), ["Would delete d:b/c", "Would delete d:b/d/e"]);
  assertEquals((await namesIn(desk, "d")).length, 5);
  assertMatch(await desk.text("sync", "here", "d:", "--delete"), /; 2 deleted\n$/);
  assertEquals(await namesIn(desk, "d"), ["a", "f", "g/"]);
  assertMatch(await desk.text("sync", "d:", "there", "--delete"), /; 2 deleted\n$/);
  assertEquals(
    (await Array.fromAsync(Deno.readDir(desk.folder.at("there")))).map(({ name }) => name)
      .sort(),
    ["a", "f", "g"],
  );
  await Deno.remove(desk.folder.at("here/g"));
  await desk.text("sync", "here", "d:", "--delete");
  assertEquals(await namesIn(desk, "d"), ["a", "f"]);
});

Deno.test("Nothing is deleted if the source is empty, does not exist or cannot be read completely.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "here", ["a", "b/c"]);
  await desk.text("sync", "here", "d:");
  await Deno.mkdir(desk.folder.at("empty"));
  const refused = await desk.run(["sync", "empty", "d:", "--delete"]);
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /Nothing was deleted, as the source has no files: --yes/);
  const none = await desk.run(["sync", "none", "d:", "--delete", "--yes"]);
  assertEquals([none.code, none.stdout], [1, ""]);
  assertMatch(none.stderr, /There is no folder none/);
  const wrongDrive = await desk.run(["sync", "other:", "here", "--delete"]);
  assertEquals([wrongDrive.code, await localNames(desk, "here")], [1, ["a", "b/c"]]);
  // A page of the source's listing fails.
  await using proxy = Proxy.start(desk.server.origin);
  proxy.intercept = async (request, pass) =>
    /files\?/.test(request.url) ? Response.json({ errors: ["no"] }, { status: 400 }) : await pass();
  const broken = await desk.run(["sync", "d:", "here", "--delete"], { url: proxy.origin });
  assertEquals([broken.code, await localNames(desk, "here")], [1, ["a", "b/c"]]);
  // A file of the source cannot be fetched.
  await fill(desk, "more", ["x"]);
  await desk.store("d", "new", "x");
  proxy.intercept = async (request, pass) =>
    /download/.test(request.url)
      ? Response.json({ errors: ["no"] }, { status: 400 })
      : await pass();
  const failed = await desk.run(["sync", "d:", "more", "--delete"], { url: proxy.origin });
  assertEquals([failed.code, await localNames(desk, "more")], [1, ["x"]]);
  assertMatch(failed.stderr, /Nothing was deleted, as not everything could be read/);
  assertEquals(await namesIn(desk, "d"), ["a", "b/c", "new"]);
  assertMatch(await desk.text("sync", "empty", "d:", "--delete", "--yes"), /; 3 deleted\n$/);
  assertEquals(await namesIn(desk, "d"), []);
});

Deno.test("Filters choose on both sides: what they leave out is not deleted.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "here", ["a.jpg", "b.tmp", "c/d.jpg", "c/e.tmp", "cache/x.jpg"]);
  const filter = ["--include", "*.jpg", "--exclude", "cache/"];
  await desk.text("sync", "here", "d:", ...filter);
  assertEquals(await namesIn(desk, "d"), ["a.jpg", "c/d.jpg"]);
  for (const name of ["keep.txt", "cache/y.jpg", "gone.jpg"]) await desk.store("d", name, "x");
  await desk.text("sync", "here", "d:", "--delete", ...filter);
  assertEquals(await namesIn(desk, "d"), ["a.jpg", "c/d.jpg", "cache/y.jpg", "keep.txt"]);
  await desk.text("sync", "d:", "here", "--delete", "--exclude", "*.tmp", "--exclude", "cache/");
  assertEquals(await localNames(desk, "here"), [
    "a.jpg",
    "b.tmp",
    "c/d.jpg",
    "c/e.tmp",
    "cache/x.jpg",
    "keep.txt",
  ]);
});

Deno.test("Names that a folder cannot hold are reported, and nothing is written outside of it.", async () => {
  await using desk = await ClientWorkspace.open();
  const bad = [
    "../up",
    "/etc/root",
    "a//b",
    "./c",
    "x/../../y",
    "l".repeat(256),
    `.kvdrive-${"0".repeat(32)}.part`,
    "\x1b]0;title\x07",
    "line\nline",
  ];
  for (const name of [...bad, "good", "a\\b"]) await desk.store("d", name, "x");
  await fill(desk, "there", ["extra"]);
  const run = await desk.run(["sync", "d:", "there", "--delete"]);
  assertEquals(run.code, 1);
  for (const name of bad.slice(0, 7)) assertStringIncludes(run.stderr, `skipped: d:${name}: `);
  assertStringIncludes(run.stderr, "skipped: d:\\u{1b}]0;title\\u{7}: it has a control character");
  assertMatch(run.stderr, /Cannot transfer 9 skipped files: see above/);
  assertEquals(await localNames(desk, "there"), ["a\\b", "good"]);
  const names = (await Array.fromAsync(Deno.readDir(desk.folder.path))).map(({ name }) => name);
  assertEquals(names.filter((name) => !["state", "there"].includes(name)), []);
  // What sync cannot write under its name, get writes under another one.
  const got = await desk.run(["get", "d:", "got"]);
  assertEquals(got.code, 0);
  for (const name of bad.slice(0, 7)) assertStringIncludes(got.stderr, `d:${name} is written to `);
  assertEquals(got.stderr.split("\n").length, 10);
  assertStringIncludes(got.stderr, "is written to %1B]0;title%07,");
  await Deno.remove(desk.folder.at("got"), { recursive: true });
  // Those that were skipped are excluded.
  const rest = await desk.run([
    "sync",
    "d:",
    "there",
    ...bad.flatMap((name) => ["--exclude", `/${name}`]),
  ]);
  assertEquals([rest.code, rest.stderr], [0, ""]);
});

Deno.test("Links are not followed, neither in the source nor in the target.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "outside", ["secret"]);
  await fill(desk, "here", ["a"]);
  await Deno.symlink(desk.folder.at("outside"), desk.folder.at("here/link"));
  const sent = await desk.run(["sync", "here", "d:"]);
  assertEquals([sent.code, sent.stderr], [0, "skipped: d:link: it is a symbolic link\n"]);
  assertEquals(await namesIn(desk, "d"), ["a"]);
  // A name of the drive that is a link here is not deleted there.
  await desk.store("d", "link/b", "x");
  await desk.run(["sync", "here", "d:", "--delete"]);
  assertEquals(await namesIn(desk, "d"), ["a", "link/b"]);
  const fetched = await desk.run(["sync", "d:", "here", "--delete"]);
  assertEquals(fetched.code, 1);
  assertMatch(fetched.stderr, /failed: d:link\/b: .*symbolic link/);
  assertEquals(await localNames(desk, "outside"), ["secret"]);
});

Deno.test("A file where a folder must be, and the reverse, give way only if --delete is given.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a/b", "c", "e/f/g"]) await desk.store("d", name, "new");
  await fill(desk, "there", ["a", "c/d/x", "e/f"]);
  const refused = await desk.run(["sync", "d:", "there"]);
  assertEquals(refused.code, 1);
  assertMatch(refused.stderr, /failed: d:a\/b: .*there\/a is not a folder: rename or remove it/);
  assertMatch(refused.stderr, /failed: d:c: .*there\/c is a folder: rename or remove it/);
  assertEquals(await localNames(desk, "there"), ["a", "c/d/x", "e/f"]);
  assertMatch(
    await desk.text("sync", "d:", "there", "--delete"),
    /^Transferred 3 files.*; 3 deleted\n$/,
  );
  assertEquals(await localNames(desk, "there"), ["a/b", "c", "e/f/g"]);
});

Deno.test("With --checksum files of one size are compared by their bytes.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "here", ["same", "diff"]);
  await desk.text("sync", "here", "d:");
  for (const name of ["same", "diff"]) await setTime(desk, `here/${name}`, 1_000_000_000);
  const text = await desk.text("sync", "here", "d:", "--checksum");
  assertMatch(text, /^Transferred 0 files .*; 2 files up to date\n/);
  await desk.text("sync", "here", "d:");
  await Deno.writeTextFile(desk.folder.at("here/diff"), "DIFF");
  await setTime(desk, "here/diff", 1_000_000_000);
  assertMatch(await desk.text("sync", "here", "d:"), /^Transferred 0 files/);
  assertMatch(await desk.text("sync", "d:", "here", "--checksum"), /^Transferred 1 file /);
  assertEquals(await Deno.readTextFile(desk.folder.at("here/diff")), "diff");
});

Deno.test("A fetched file that differs in its time only is not fetched again.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.store("d", "a", "text");
  await Deno.mkdir(desk.folder.at("there"));
  await desk.folder.write("there/a", "text");
  await setTime(desk, "there/a", 1_000_000_000);
  const run = await desk.run(["sync", "d:", "there"], { url: proxy.origin });
  assertMatch(run.stdout, /^Transferred 0 files .*; 1 file up to date\n/);
  assertEquals(proxy.count("GET", /download/), 0);
  const again = await desk.run(["sync", "d:", "there"], { url: proxy.origin });
  assertEquals([again.code, proxy.count("HEAD", /download/)], [0, 1]);
});

Deno.test("The server copies from drive to drive: no bytes are sent.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await fill(desk, "here", ["a", "b/c"]);
  await desk.text("sync", "here", "d:x");
  await desk.store("d", "x/raw", "x");
  await desk.server.fetch("d", "/folders", { method: "POST", body: '{"name": "x/kept/"}' });
  await desk.store("e", "y/old", "x");
  const run = await desk.run(["sync", "d:x", "e:y", "--delete"], { url: proxy.origin });
  assertEquals(run.stdout, "Transferred 3 files (5 B); 0 files up to date; 1 deleted\n");
  assertEquals(proxy.count("GET", /download/) + proxy.count("POST", /files\?/), 0);
  assertEquals(await namesIn(desk, "e"), ["y/a", "y/b/c", "y/kept/", "y/raw"]);
  assertMatch(await desk.text("sync", "d:x", "e:y"), /^Transferred 0 files .*; 3 files up to date/);
  const inside = await desk.run(["sync", "d:", "d:x/y"]);
  assertEquals(inside.code, 1);
  assertMatch(inside.stderr, /choose folders apart/);
});

Deno.test("A file that was moved over another one of its size is copied from drive to drive.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "older", "old");
  await desk.store("d", "a", "new");
  assertMatch(await desk.text("sync", "d:", "e:"), /^Transferred 2 files/);
  const body = JSON.stringify({ from: "older", to: "a", overwrite: true });
  await (await desk.server.fetch("d", "/files/move", { method: "POST", body })).body?.cancel();
  assertEquals(
    await desk.text("sync", "d:", "e:", "--delete"),
    "Transferred 1 file (3 B); 0 files up to date; 1 deleted\n",
  );
  assertEquals(await (await desk.server.fetch("e", "/files/download?name=a")).text(), "old");
  assertMatch(await desk.text("sync", "d:", "e:"), /^Transferred 0 files .*; 1 file up to date/);
});

Deno.test("The command line is checked, and changes are printed as JSON.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "here", ["a"]);
  const cases: [string[], RegExp][] = [
    [["here", "there"], /both on this machine/],
    [["here", "d:", "--watch", "--dry-run"], /exclude each other/],
    [["here", "d:", "--concurrency", "0"], /--concurrency/],
    [["here", "d:", "--bandwidth", "slow"], /--bandwidth/],
    [["here", "d:", "--exclude", "/"], /pattern/],
    [["here"], /TARGET/],
  ];
  for (const [args, says] of cases) {
    const run = await desk.run(["sync", ...args]);
    assertEquals([run.code, run.stdout], [2, ""]);
    assertMatch(run.stderr, says);
  }
  const file = await desk.run(["sync", "here/a", "d:"]);
  assertEquals(file.code, 1);
  assertMatch(file.stderr, /here\/a is no folder/);
  const none = await desk.run(["sync", "d:none", "there"]);
  assertEquals([none.code, none.stderr], [0, "kvdrive: There are no files in d:none/\n"]);
  const planned = await desk.json("sync", "here", "d:", "--dry-run");
  assertEquals(planned, [{ drive: "d", name: "a", change: "sent", size: 1, dry_run: true }]);
  const done = await desk.json("sync", "here", "d:");
  assertEquals(done, [{ drive: "d", name: "a", change: "sent", size: 1 }]);
});
