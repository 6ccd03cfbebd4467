import { assert, assertEquals } from "@std/assert";
import { ClientWorkspace } from "../support/cli/client.ts";
import { drivesOf, emptyAll, type Report, report } from "../support/cli/exports.ts";
import { zipOf } from "../support/cli/zip.ts";
import { AWKWARD_NAMES } from "../support/names.ts";
import { PROJECT_ID } from "../support/server.ts";

/** The folders that are kept in all drives, as drive and name. */
async function allFolders(desk: ClientWorkspace): Promise<string[]> {
  const found: string[] = [];
  for (const drive of await drivesOf(desk)) {
    const answer = await desk.server.fetch(drive, "/folders");
    const { folders } = await answer.json() as { folders: string[] };
    found.push(...folders.map((name) => `${drive}: ${name}`));
  }
  return found;
}

async function keep(desk: ClientWorkspace, drive: string, names: readonly string[]): Promise<void> {
  for (const name of names) await send(desk, "POST", drive, name);
}

async function dropAll(desk: ClientWorkspace): Promise<void> {
  for (const one of await allFolders(desk)) {
    const [drive = "", ...name] = one.split(": ");
    await send(desk, "DELETE", drive, name.join(": "));
  }
  assertEquals(await allFolders(desk), []);
}

async function send(
  desk: ClientWorkspace,
  method: string,
  drive: string,
  name: string,
): Promise<void> {
  const answer = await desk.server.fetch(drive, "/folders", {
    method,
    body: JSON.stringify({ name }),
  });
  assertEquals(Math.floor(answer.status / 100), 2, await answer.text());
}

/** What the server has, seen through a proxy that knows no `GET /folders`, as a server of an older version. */
function olderServer(desk: ClientWorkspace, status: number): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    if (request.method === "GET" && pathname.endsWith("/folders")) {
      return Response.json({ errors: ["There is no such thing"] }, { status });
    }
    const { method, headers, body } = request;
    return fetch(desk.server.origin + pathname + search, { method, headers, body });
  });
}

async function isFolder(desk: ClientWorkspace, path: string): Promise<boolean> {
  return (await Deno.lstat(desk.folder.at(path))).isDirectory;
}

const NAMES = [
  ...AWKWARD_NAMES.map(({ name }) => `${name}/`),
  "plain/2026/",
  "trip/2026/",
  "trip/",
  "Trip/",
  "with/file/",
  "x/y/",
  "%/",
  "//",
  "a//",
  "a/%/",
  `${"long".repeat(200)}/`,
  "deep/".repeat(150),
  "kvdrive.jsonl/",
];

Deno.test("Export and import keep the folders that are kept: to a folder or an archive, by a server or a store.", async () => {
  await using desk = await ClientWorkspace.open();
  await keep(desk, "photos", NAMES);
  await keep(desk, "only folders", ["a/b/"]);
  for (const name of ["with/file/x", "x", "not/kept/x"]) await desk.store("photos", name, name);
  const before = await allFolders(desk);
  assertEquals(before.length, new Set(NAMES).size + 1);
  const store = ["--data", desk.server.data, "--project", PROJECT_ID];
  for (const [at, ways] of [["http", []], ["data", store]] as const) {
    for (const target of [at, `${at}.zip`]) {
      const exported = await report(desk, "export", target, ...ways);
      assertEquals([exported.copied, exported.folders], [3, before.length]);
      assertEquals([exported.skipped, exported.failed], [[], []]);
      if (target === at) {
        const again = await report(desk, "export", target, ...ways);
        assertEquals([again.copied, again.unchanged, again.skipped], [0, 3, []]);
      }
      await emptyAll(desk);
      await dropAll(desk);
      const imported = await report(desk, "import", target, ...ways);
      assertEquals([imported.copied, imported.folders], [3, before.length]);
      assertEquals([imported.skipped, imported.failed], [[], []]);
      assertEquals(await allFolders(desk), before, target);
      const twice = await report(desk, "import", target, ...ways);
      assertEquals([twice.copied, twice.unchanged, twice.folders], [0, 3, before.length]);
    }
    assert(await isFolder(desk, `${at}/drives/photos/plain/2026`));
    assert(await isFolder(desk, `${at}/drives/only folders/a/b`));
  }
});

Deno.test("A folder that is not kept any more stays in the folder of an export, and is named.", async () => {
  await using desk = await ClientWorkspace.open();
  await keep(desk, "d", ["a/", "b/"]);
  assertEquals(await desk.text("export", "out"), "Copied 0 files (0 B), 2 folders\n");
  await send(desk, "DELETE", "d", "a/");
  const { skipped, folders } = await report(desk, "export", "out");
  assertEquals([skipped.map(({ name }) => name), folders], [["a/"], 1]);
  await Deno.remove(desk.folder.at("out/drives/d/a"));
  const imported = await report(desk, "import", "out");
  assertEquals(imported.skipped.map(({ name }) => name), ["a/"]);
  assertEquals(await allFolders(desk), ["d: b/"]);
  // A file of the user is not replaced.
  await Deno.mkdir(desk.folder.at("theirs/drives/d"), { recursive: true });
  await desk.folder.write("theirs/drives/d/b", "theirs");
  const run = await desk.run(["export", "theirs", "--json", "--force"]);
  const { failed } = JSON.parse(run.stdout) as Report;
  assertEquals([run.code, failed.map(({ name }) => name)], [1, ["b/"]]);
  assertEquals(await Deno.readTextFile(desk.folder.at("theirs/drives/d/b")), "theirs");
});

Deno.test("An import keeps the empty folders of any folder or archive, and no other folders.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const path of ["d/empty", "d/outer/inner", "d/full", "other/empty", "bare"]) {
    await Deno.mkdir(desk.folder.at(`in/drives/${path}`), { recursive: true });
  }
  await desk.folder.write("in/drives/d/full/file", "x");
  const paths = [
    "d/",
    "d/empty/",
    "d/outer/",
    "d/outer/inner/",
    "d/full/",
    "other/empty/",
    "bare/",
  ];
  const folders = paths.map((path) => ({ path: `drives/${path}`, bytes: "", mode: 0o040755 }));
  const file = { path: "drives/d/full/file", bytes: "x" };
  await desk.folder.write("in.zip", zipOf([...folders, file]));
  for (const source of ["in", "in.zip"]) {
    const all = ["d: empty/", "d: outer/inner/", "other: empty/"];
    assertEquals((await report(desk, "import", source, "--drive", "d")).folders, 2);
    assertEquals(await allFolders(desk), all.slice(0, 2));
    assertEquals(
      await desk.text("import", source),
      "Copied 0 files (0 B), 3 folders, 1 up to date\n",
    );
    assertEquals(await allFolders(desk), all);
    await emptyAll(desk);
    await dropAll(desk);
  }
  const none = await desk.run(["import", "in", "--drive", "bare"]);
  assertEquals([none.code, none.stdout], [1, ""]);
});

Deno.test("A server that does not list folders is exported without them.", async () => {
  await using desk = await ClientWorkspace.open();
  await keep(desk, "d", ["a/"]);
  await desk.store("d", "x", "x");
  for (const status of [404, 405]) {
    await using proxy = olderServer(desk, status);
    const url = `http://127.0.0.1:${proxy.addr.port}`;
    const target = `out${status}`;
    const run = await desk.run(["export", target], { url });
    assertEquals([run.code, run.stdout], [0, "Copied 1 file (1 B)\n"], run.stderr);
    assertEquals([...Deno.readDirSync(desk.folder.at(`${target}/drives/d`))].length, 1);
  }
});

Deno.test("A folder with an impossible name is reported, and the others are imported.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const path of ["d/ ", "d/ok", "d/index"]) {
    await Deno.mkdir(desk.folder.at(`out/drives/${path}`), { recursive: true });
  }
  const line = { drive: "d", name: "no folder", path: "drives/d/index/", size: 0 };
  await desk.folder.write("out/kvdrive.jsonl", `${JSON.stringify(line)}\n`);
  const run = await desk.run(["import", "out", "--json"]);
  const { skipped, failed } = JSON.parse(run.stdout) as Report;
  assertEquals(run.code, 1);
  assertEquals(skipped.map(({ reason }) => reason.split(":")[0]), [
    'The folder name is blank before its last "/"',
  ]);
  assertEquals(failed.map(({ reason }) => reason.split(":")[0]), [
    'The folder name in kvdrive.jsonl does not end with "/"',
  ]);
  assertEquals(await allFolders(desk), ["d: ok/"]);
});
