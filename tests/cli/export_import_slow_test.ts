import { assert, assertEquals } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { ClientWorkspace, filesBelow, someBytes, waitUntil } from "../support/cli/client.ts";
import { Proxy } from "../support/cli/proxy.ts";
import { emptyAll, NEVER, Report, report } from "../support/cli/exports.ts";

Deno.test("Large files are exported and imported in parts.", async () => {
  await using desk = await ClientWorkspace.open();
  const bytes = someBytes(25_000_000);
  await desk.folder.write("film", bytes);
  await desk.text("put", "film", "d:film");
  const ways = ["--data", desk.server.data];
  for (const args of [["out"], ["out.zip"], ["past", ...ways]]) {
    await desk.text("export", ...args);
    await desk.text("rm", "d:film", "--yes");
    await desk.text("import", ...args);
    assert(equals(await desk.stored("d", "film") ?? new Uint8Array(), bytes), args[0]);
    const again = await report(desk, "import", ...args);
    assertEquals([again.copied, again.unchanged], [0, 1]);
  }
});

Deno.test("An interrupted export resumes with the missing files.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const name of ["a", "b", "c", "d", "e"]) await desk.store("x", name, `bytes of ${name}`);
  for (const target of ["out", "out.zip"]) {
    await using proxy = Proxy.start(desk.server.origin);
    const nameOf = (request: Request) => new URL(request.url).searchParams.get("name");
    proxy.intercept = (request, pass) => nameOf(request) === "d" ? NEVER : pass();
    const running = desk.start(["export", target], { url: proxy.origin });
    const index = desk.folder.at(target === "out" ? "out/kvdrive.jsonl" : "out.zip.part.jsonl");
    const whole = target === "out" ? 4 : 3;
    await waitUntil("the others are here", async () => {
      const text = await Deno.readTextFile(index).catch(() => "");
      return text.split("\n").filter((line) => line.startsWith("{")).length === whole;
    });
    await running.kill();
    assert(!await desk.folder.has("out.zip"));
    assert(target !== "out" || !await desk.folder.has("out/drives/x/d"));
    proxy.seen.length = 0;
    proxy.intercept = (_request, pass) => pass();
    const run = await desk.run(["export", target, "--json"], { url: proxy.origin });
    assertEquals(run.code, 0, run.stderr);
    const { copied, unchanged } = JSON.parse(run.stdout) as Report;
    assertEquals([copied, unchanged], [5 - whole, whole]);
    assertEquals(proxy.count("GET", /download/), 5 - whole);
  }
  await desk.text("rm", "x:", "-r", "--yes");
  await desk.text("import", "out.zip");
  const names = (await desk.json<{ name: string }>("ls", "x")).map(({ name }) => name);
  assertEquals(names, ["a", "b", "c", "d", "e"]);
  assertEquals(await desk.stored("x", "d"), new TextEncoder().encode("bytes of d"));
});

Deno.test("An interrupted import resumes with the missing files, also within a large file.", async () => {
  await using desk = await ClientWorkspace.open();
  const part = 10 * 2 ** 20;
  const film = someBytes(3 * part + 1);
  await desk.folder.write("film", film);
  await desk.text("put", "film", "d:film");
  for (const name of ["a", "z"]) await desk.store("d", name, `bytes of ${name}`);
  for (const source of ["out", "out.zip"]) {
    await desk.text("export", source);
    await emptyAll(desk);
    await using proxy = Proxy.start(desk.server.origin);
    const partOf = (request: Request) => new URL(request.url).searchParams.get("part");
    proxy.intercept = (request, pass) => partOf(request) === "2" ? NEVER : pass();
    const running = desk.start(["import", source], { url: proxy.origin });
    await waitUntil("three parts and a file are there", async () => {
      const folder = desk.folder.at("state/kvdrive/uploads");
      const states = await filesBelow(folder).catch(() => new Map<string, string>());
      const lines = [...states.values()].flatMap((text) => text.split("\n"));
      const noted = lines.filter((line) => line.startsWith('{"part"')).length;
      return noted === 3 && await desk.stored("d", "a") !== undefined;
    });
    await running.kill();
    assertEquals(await desk.stored("d", "film"), undefined);
    proxy.seen.length = 0;
    proxy.intercept = (_request, pass) => pass();
    const run = await desk.run(["import", source, "--json"], { url: proxy.origin });
    assertEquals(run.code, 0, run.stderr);
    assertEquals(proxy.count("POST", /\/parts\?/), 1);
    assert(equals(await desk.stored("d", "film") ?? new Uint8Array(), film));
    assertEquals(await desk.stored("d", "z"), new TextEncoder().encode("bytes of z"));
    // What is large and there is known by what is remembered: it is not read again to compare.
    proxy.seen.length = 0;
    const again = await desk.run(["import", source], { url: proxy.origin });
    assertEquals([again.code, again.stdout], [0, "Copied 0 files (0 B), 3 up to date\n"]);
    assertEquals(proxy.count("GET", /download/), 0);
    await Deno.remove(desk.folder.at("state"), { recursive: true });
  }
});
