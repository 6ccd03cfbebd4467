import { assert, assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace, filesBelow, someBytes } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";

async function fillDrive(
  desk: ClientWorkspace,
  drive: string,
  names: readonly string[],
): Promise<void> {
  for (const name of names) await desk.store(drive, name, name);
}

async function fill(
  desk: ClientWorkspace,
  folder: string,
  names: readonly string[],
): Promise<void> {
  for (const name of names) {
    const path = desk.folder.at(`${folder}/${name}`);
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(path, name);
  }
}

/** The names in a drive, and the folders that it keeps. */
async function namesIn(desk: ClientWorkspace, drive: string): Promise<string[]> {
  const files = await (await desk.server.fetch(drive, "/files")).json() as { names: string[] };
  const kept = await (await desk.server.fetch(drive, "/folders")).json() as { folders: string[] };
  return [...files.names, ...kept.folders].sort();
}

async function keepFolder(desk: ClientWorkspace, drive: string, name: string): Promise<void> {
  const init = { method: "POST", body: JSON.stringify({ name }) };
  assertEquals((await desk.server.fetch(drive, "/folders", init)).status, 201);
}

async function localNames(desk: ClientWorkspace, folder: string): Promise<string[]> {
  return [...(await filesBelow(desk.folder.at(folder))).keys()];
}

Deno.test("Within a project the server copies: no bytes are sent.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.store("d", "large", someBytes(5_000_000));
  await fillDrive(desk, "d", ["in/a", "in/b/c", "x.gif", "y.gif", "z/w.gif", "*.gif"]);
  await keepFolder(desk, "d", "in/empty/");
  const cases: [args: string[], drive: string, names: string[]][] = [
    [["d:large", "one:"], "one", ["large"]],
    [["d:large", "two:x/y"], "two", ["x/y"]],
    [["d:large", "three:x/"], "three", ["x/large"]],
    [["d:in/", "four:t/"], "four", ["t/a", "t/b/c", "t/empty/"]],
    [["d:in", "five:t/", "-r"], "five", ["t/in/a", "t/in/b/c", "t/in/empty/"]],
    [["d:*.gif", "six:"], "six", ["*.gif", "x.gif", "y.gif"]],
    [["d:\\*.gif", "seven:"], "seven", ["*.gif"]],
    [["d:**.gif", "eight:"], "eight", ["*.gif", "x.gif", "y.gif", "z/w.gif"]],
    [["d:in/**", "nine:t/"], "nine", ["t/a", "t/b/c"]],
    [["d:x.gif", "d:in/", "ten:"], "ten", ["a", "b/c", "empty/", "x.gif"]],
    [["d:", "eleven:", "--include", "*.gif", "--exclude", "z/"], "eleven", [
      "*.gif",
      "x.gif",
      "y.gif",
    ]],
  ];
  for (const [args, drive, names] of cases) {
    const run = await desk.run(["cp", ...args], { url: proxy.origin });
    assertEquals([run.code, run.stderr], [0, ""], args.join(" "));
    assertEquals(await namesIn(desk, drive), names, args.join(" "));
  }
  assertEquals(proxy.count("GET", /download/) + proxy.count("POST", /\/(files\?|uploads)/), 0);
  assertEquals((await namesIn(desk, "d")).length, 8);
});

Deno.test("cp overwrites, unless --no-clobber is given.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "a", "new");
  await desk.store("e", "a", "old");
  await desk.folder.write("a", "local");
  const skipped = await desk.run(["cp", "-n", "d:a", "e:"]);
  assertEquals([skipped.code, skipped.stderr], [0, "skipped: e:a: it exists\n"]);
  const many = await desk.run(["cp", "-n", "d:", "e:"]);
  assertEquals([many.code, many.stdout], [0, "Copied 0 files (0 B)\n"]);
  assertEquals((await desk.run(["cp", "-n", "a", "e:"])).stderr, "skipped: e:a: it exists\n");
  assertEquals((await desk.run(["cp", "-n", "e:a", "."])).code, 0);
  assertEquals(await Deno.readTextFile(desk.folder.at("a")), "local");
  assertEquals(await desk.stored("e", "a"), new TextEncoder().encode("old"));
  assertEquals(await desk.text("cp", "d:a", "e:"), "Copied 1 file (3 B)\n");
  assertEquals(await desk.stored("e", "a"), new TextEncoder().encode("new"));
  await desk.text("cp", "d:a", ".");
  assertEquals(await Deno.readTextFile(desk.folder.at("a")), "new");
  const itself = await desk.run(["cp", "d:a", "d:a"]);
  assertEquals(itself.code, 1);
});

Deno.test("cp and mv go between this machine and a drive, with empty folders.", async () => {
  await using desk = await ClientWorkspace.open();
  await fill(desk, "src", ["a", "b/c", "b/d.tmp"]);
  await Deno.mkdir(desk.folder.at("src/empty"));
  await desk.text("cp", "src", "d:", "--exclude", "*.tmp");
  assertEquals(await namesIn(desk, "d"), ["src/a", "src/b/c", "src/empty/"]);
  await desk.text("cp", "d:src/", "out");
  assertEquals(await localNames(desk, "out"), ["a", "b/c"]);
  assert((await Deno.stat(desk.folder.at("out/empty"))).isDirectory);
  await desk.text("cp", "d:src", "d:src/a", "more/");
  assertEquals(await localNames(desk, "more"), ["a", "src/a", "src/b/c"]);
  assertEquals(
    await desk.text("mv", "src/", "e:t/", "--exclude", "*.tmp"),
    "Moved 2 files (4 B)\n",
  );
  assertEquals(await namesIn(desk, "e"), ["t/a", "t/b/c", "t/empty/"]);
  assertEquals(await localNames(desk, "src"), ["b/d.tmp"]);
  assertEquals(await desk.text("mv", "e:t/", "back"), "Moved 2 files (4 B)\n");
  assertEquals([await namesIn(desk, "e"), await localNames(desk, "back")], [[], ["a", "b/c"]]);
  await desk.text("mv", "back", "f:");
  assertEquals(await namesIn(desk, "f"), ["back/a", "back/b/c", "back/empty/"]);
  assertEquals(await desk.folder.has("back"), false);
});

Deno.test("mv renames within a project, files and folders.", async () => {
  await using desk = await ClientWorkspace.open();
  await fillDrive(desk, "d", ["a", "in/b", "in/c/d"]);
  await keepFolder(desk, "d", "in/e/");
  await keepFolder(desk, "d", "in/");
  await desk.text("mv", "d:a", "d:z");
  await desk.text("mv", "d:in/", "d:out/");
  assertEquals(await namesIn(desk, "d"), ["out/b", "out/c/d", "out/e/", "z"]);
  await desk.text("mv", "d:out/c/", "d:out/");
  assertEquals(await namesIn(desk, "d"), ["out/b", "out/d", "out/e/", "z"]);
  await desk.text("mv", "d:**", "d:all/");
  assertEquals(await namesIn(desk, "d"), ["all/out/b", "all/out/d", "all/z", "out/e/"]);
  const inside = await desk.run(["mv", "d:all/", "d:all/more/"]);
  assertEquals(inside.code, 1);
  assertMatch(inside.stderr, /into itself/);
  const taken = await desk.run(["mv", "-n", "d:all/z", "d:all/out/b"]);
  assertEquals([taken.code, taken.stderr], [0, "skipped: d:all/out/b: it exists\n"]);
  const both = await desk.run(["mv", "d:all/z", "d:all/out/b", "e:same"]);
  assertEquals(both.code, 2);
});

Deno.test("Two sources of one name do not replace each other.", async () => {
  await using desk = await ClientWorkspace.open();
  await fillDrive(desk, "d", ["a/x", "b/x"]);
  const moved = await desk.run(["mv", "d:a/x", "d:b/x", "e:"]);
  assertEquals(moved.code, 1);
  assertEquals([await namesIn(desk, "d"), await namesIn(desk, "e")], [["b/x"], ["x"]]);
  await fill(desk, "p", ["x"]);
  await fill(desk, "q", ["x"]);
  const sent = await desk.run(["mv", "p/x", "q/x", "f:"]);
  assertEquals([sent.code, await localNames(desk, "q")], [1, ["x"]]);
  assertMatch(sent.stderr, /Another source has this name/);
});

Deno.test("A move of which an answer is lost is reported as done.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await fillDrive(desk, "d", ["in/a", "in/b"]);
  let lost = 0;
  proxy.intercept = async (request, pass) => {
    const answer = await pass();
    if (!request.url.endsWith("/move") || lost++ > 0) return answer;
    await answer.body?.cancel();
    return Response.json({ errors: ["try again"] }, { status: 503 });
  };
  const run = await desk.run(["mv", "d:in/", "d:out/"], { url: proxy.origin });
  assertEquals([run.code, run.stdout, run.stderr.includes("failed")], [
    0,
    "Moved 2 files (8 B)\n",
    false,
  ]);
  assertEquals(await namesIn(desk, "d"), ["out/a", "out/b"]);
});

Deno.test("--dry-run changes nothing and prints what would be done.", async () => {
  await using desk = await ClientWorkspace.open();
  await fillDrive(desk, "d", ["a", "in/b"]);
  await fill(desk, "src", ["f"]);
  const cases: [string[], string][] = [
    [
      ["put", "src", "e:", "--dry-run"],
      "Would send src/f to e:src/f (1 B)\nWould send 1 file (1 B)\n",
    ],
    [
      ["get", "d:in/", "out", "--dry-run"],
      "Would fetch d:in/b to out/b (4 B)\nWould fetch 1 file (4 B)\n",
    ],
    [["cp", "d:in/", "e:", "--dry-run"], "Would copy d:in/b to e:b\nWould copy 1 file (4 B)\n"],
    [["mv", "d:a", "e:", "--dry-run"], "Would move d:a to e:a\nWould move 1 file (1 B)\n"],
    [["rm", "d:**", "--dry-run"], "Would delete d:a\nWould delete d:in/b\nWould delete 2 files\n"],
  ];
  for (const [args, text] of cases) assertEquals(await desk.text(...args), text);
  assertEquals([await namesIn(desk, "d"), await namesIn(desk, "e")], [["a", "in/b"], []]);
  assertEquals([await desk.folder.has("out"), await localNames(desk, "src")], [false, ["f"]]);
});

Deno.test("The places of cp and mv are checked.", async () => {
  await using desk = await ClientWorkspace.open();
  await fillDrive(desk, "d", ["a", "b/c"]);
  const cases: [string[], number, RegExp][] = [
    [["cp", "a", "b"], 2, /both on this machine/],
    [["cp", "d:a", "x", "e:"], 2, /All sources must be in drives/],
    [["cp", "d:a", "d:b/", "e:x"], 2, /need a folder as the target/],
    [["cp", "d:none", "e:"], 1, /There is no file d:none/],
    [["cp", "d:none/", "e:"], 1, /There are no files in d:none\//],
    [["cp", "d:*.gif", "e:"], 1, /No file matches d:\*\.gif/],
    [["cp", "d:b", "d:b/x/"], 1, /into itself/],
    [["mv", "-", "d:x"], 2, /A pipe cannot be moved/],
  ];
  for (const [args, code, says] of cases) {
    const run = await desk.run(args);
    assertEquals([run.code, run.stdout], [code, ""], `${args.join(" ")}: ${run.stderr}`);
    assertMatch(run.stderr, says);
  }
  await Deno.writeTextFile(desk.folder.at("x:y"), "colon");
  await desk.text("cp", "./x:y", "d:");
  assertEquals(await namesIn(desk, "d"), ["a", "b/c", "x:y"]);
});

Deno.test("--bandwidth limits what is sent and received.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.folder.write("a", someBytes(300_000));
  for (const args of [["cp", "a", "d:"], ["cp", "d:a", "back"], ["cat", "d:a"]]) {
    const limit = args[0] === "cat" ? [] : ["--bandwidth", "400kB"];
    const start = performance.now();
    await desk.text(...args, ...limit);
    const time = performance.now() - start;
    if (limit.length > 0) assert(time > 700, `${args.join(" ")} took ${time} ms`);
  }
  assertEquals(await Deno.readFile(desk.folder.at("back")), someBytes(300_000));
});
