import { assert, assertEquals, assertMatch } from "@std/assert";
import { ClientWorkspace, someBytes } from "../support/cli/client.ts";
import { assertRefused, namesIn } from "../support/command.ts";
import { PROJECT_ID } from "../support/server.ts";

interface Link {
  id: string;
  url: string;
  drive_name: string;
  name?: string;
  prefix?: string;
  expires: string | null;
  has_password: boolean;
  max_downloads: number | null;
}

async function jsonOf<T>(desk: ClientWorkspace, ...args: string[]): Promise<T> {
  return JSON.parse(await desk.text(...args, "--json")) as T;
}

/** A workspace with two drives, whose trash keeps files. */
async function openDesk(): Promise<ClientWorkspace> {
  const desk = await ClientWorkspace.open();
  await desk.text("project", "change", PROJECT_ID, "--trash-days", "7");
  await desk.store("photos", "cat.jpg", "meow");
  await desk.store("photos", "trip/1.jpg", "sand");
  await desk.store("other:drive", "x", "x");
  return desk;
}

Deno.test("A link is printed as its address, listed, and revoked by id or address.", async () => {
  await using desk = await openDesk();
  const url = (await desk.text("link", "create", "photos:cat.jpg", "--expires-in", "7d")).trim();
  assertEquals(await (await fetch(url)).text(), "meow");
  const made = await jsonOf<Link>(
    ...[desk, "link", "create", "photos:trip/", "--max-downloads", "3", "--download"] as const,
  );
  assertEquals([made.prefix, made.max_downloads], ["trip/", 3]);
  await desk.text("link", "create", "x", "--drive", "other:drive");
  const { links } = await jsonOf<{ links: Link[] }>(desk, "link", "list");
  assertEquals(
    links.map(({ drive_name, name, prefix }) => `${drive_name}:${name ?? prefix}`).sort(),
    ["other:drive:x", "photos:cat.jpg", "photos:trip/"],
  );
  assertMatch(await desk.text("link", "list", "photos"), /photos:cat\.jpg +20\S+Z .* http:\S+\n/);
  assertMatch(await desk.text("link", "revoke", url, made.id), /^Revoked 2 links\./);
  assertEquals((await fetch(url)).status, 404);
  const again = await desk.run(["link", "revoke", url]);
  assertRefused(again, 1, /There is no link/);
  // The end of the address is secret.
  assert(!again.stderr.includes(url.slice(-16)), again.stderr);
  const some = await desk.run(["link", "revoke", made.id, links[0]?.id ?? "", links[2]?.id ?? ""]);
  assertEquals(some.code, 1);
});

Deno.test("The settings of a link are changed by its id or address.", async () => {
  await using desk = await openDesk();
  const url = (await desk.text("link", "create", "photos:cat.jpg", "--expires-in", "7d")).trim();
  const changed = await jsonOf<Link>(
    ...[desk, "link", "change", url, "--expires-in", "none", "--max-downloads", "5"] as const,
  );
  assertEquals([changed.url, changed.expires, changed.max_downloads], [url, null, 5]);
  const input = new TextEncoder().encode("open sesame\n");
  const locked = await desk.run(["link", "change", changed.id, "--password"], { input });
  assertEquals([locked.code, locked.stdout], [0, `${url}\n`]);
  assertEquals((await fetch(url)).status, 401);
  const args = ["link", "change", changed.id, "--no-password", "--max-downloads", "none"];
  assertEquals(await desk.text(...args), `${url}\n`);
  assertEquals(await (await fetch(url)).text(), "meow");
  const refusals: [string[], number, RegExp][] = [
    [[], 2, /Nothing to change: give one of --expires-in/],
    [["--show", "--download"], 2, /--download and --show exclude each other/],
    [["--max-downloads", "0"], 2, /it must be a whole number from 1/],
    [["--show", "--drive", "other:drive"], 1, /There is no link/],
  ];
  for (const [options, code, text] of refusals) {
    assertRefused(await desk.run(["link", "change", changed.id, ...options]), code, text);
  }
});

Deno.test("A link to nothing is warned of, and its life has a unit.", async () => {
  await using desk = await openDesk();
  for (const target of ["photos:dog.jpg", "photos:none/"]) {
    const { code, stdout, stderr } = await desk.run(["link", "create", target]);
    assertEquals([code, stderr.includes(`Warning: There is no ${target} yet`)], [0, true], stderr);
    assertMatch(stdout, /^http\S+\n$/);
  }
  for (const life of ["7", "0", "7 days", "0d", "3651d"]) {
    const run = await desk.run(["link", "create", "photos:cat.jpg", "--expires-in", life]);
    assertRefused(run, 2, /of --expires-in: it must be a time with a unit, like 12h, 7d/);
  }
  const key = await desk.run(["key", "create", PROJECT_ID, "--expires-in", "7"]);
  assertRefused(key, 2, /it must be a time with a unit/);
});

Deno.test("A change of the trash is printed.", async () => {
  await using desk = await openDesk();
  const change = ["project", "change", PROJECT_ID, "--trash-days"];
  assertMatch(await desk.text(...change, "3"), /^Its trash keeps files for 3 days\.$/m);
  assertMatch(await desk.text(...change, "0"), /^Its trash is off\.$/m);
});

Deno.test("The password of a link comes from standard input.", async () => {
  await using desk = await openDesk();
  const args = ["link", "create", "photos:cat.jpg", "--password"];
  const input = new TextEncoder().encode("open sesame\n");
  const { code, stdout, stderr } = await desk.run(args, { input });
  assertEquals([code, stderr], [0, ""]);
  const url = stdout.trim();
  assertEquals((await fetch(url)).status, 401);
  const headers = { Authorization: `Basic ${btoa("me:open sesame")}` };
  assertEquals(await (await fetch(url, { headers })).text(), "meow");
  assertRefused(await desk.run(args, { input: new Uint8Array() }), 2, /No password/);
});

Deno.test("Files are restored from the trash by name, folder or id.", async () => {
  await using desk = await openDesk();
  await desk.store("photos", "cat.jpg", "new meow");
  await desk.text("rm", "photos:", "--recursive", "--yes");
  const { items } = await jsonOf<{ items: { id: string; name: string; reason: string }[] }>(
    ...[desk, "trash", "list", "photos"] as const,
  );
  assertEquals(
    items.map(({ name, reason }) => `${name} ${reason}`).sort(),
    ["cat.jpg deleted", "cat.jpg replaced", "trip/1.jpg deleted"],
  );
  assertMatch(await desk.text("trash", "list", "photos:trip/"), /trip\/1\.jpg/);
  const restored = await desk.text("trash", "restore", "photos:cat.jpg", "photos:trip/");
  assertEquals(restored, "Restored 2 files.\n");
  assertEquals(new TextDecoder().decode(await desk.stored("photos", "cat.jpg")), "new meow");
  const older = items.find(({ reason }) => reason === "replaced")?.id ?? "";
  const taken = await desk.run(["trash", "restore", older]);
  assertRefused(taken, 1, /Another file has its name: --overwrite replaces that/);
  await desk.text("trash", "restore", older, "--overwrite");
  assertEquals(new TextDecoder().decode(await desk.stored("photos", "cat.jpg")), "meow");
  for (const absent of ["photos:absent", "01J9Z3NDEKTSV4RRFFQ69G5FAV"]) {
    assertRefused(await desk.run(["trash", "restore", absent]), 1, /Cannot restore/);
  }
  assertRefused(await desk.run(["trash", "empty"]), 2, /without a terminal: add --yes/);
  assertMatch(await desk.text("trash", "empty", "--yes"), /^Deleted \d file/);
  assertEquals(await desk.text("trash", "list"), "The trash is empty.\n");
});

Deno.test("Open uploads are listed, and aborted by name or id.", async () => {
  await using desk = await openDesk();
  const start = async (name: string) => {
    const answer = await desk.server.fetch("photos", `/uploads?name=${name}`, { method: "POST" });
    return (await answer.json() as { upload_id: string }).upload_id;
  };
  const [first] = [await start("film"), await start("film"), await start("song")];
  const { uploads } = await jsonOf<{ uploads: { upload_id: string; name: string }[] }>(
    ...[desk, "upload", "list"] as const,
  );
  assertEquals(uploads.map(({ name }) => name).sort(), ["film", "film", "song"]);
  assertEquals(await desk.text("upload", "abort", first ?? ""), "Aborted 1 upload.\n");
  assertEquals(
    await desk.text("upload", "abort", "photos:film", "photos:song"),
    "Aborted 2 uploads.\n",
  );
  assertEquals(await desk.text("upload", "list", "photos"), "There are no open uploads.\n");
  assertRefused(
    await desk.run(["upload", "abort", "photos:film"]),
    1,
    /no open upload photos:film/,
  );
});

Deno.test("A drive is listed and deleted.", async () => {
  await using desk = await openDesk();
  const { drives } = await jsonOf<{ drives: unknown[] }>(desk, "drive", "list");
  assertEquals(drives, [
    { drive_name: "other:drive", files: 1, bytes: 1 },
    { drive_name: "photos", files: 2, bytes: 8 },
  ]);
  assertRefused(await desk.run(["drive", "delete", "photos"]), 2, /add --yes/);
  assertMatch(await desk.text("drive", "delete", "photos", "--yes"), /drive photos is deleted/);
  assertEquals((await desk.text("drive", "list")).includes("photos"), false);
  assertRefused(await desk.run(["drive", "delete", "photos", "-y"]), 1, /no drive "photos"/);
});

Deno.test("An archive is complete or not there, and replaces nothing without --force.", async () => {
  await using desk = await openDesk();
  await desk.store("photos", "big.bin", someBytes(3_000_000));
  assertMatch(await desk.text("archive", "photos:"), /^photos\.zip \(/);
  const path = desk.folder.at("photos.zip");
  const whole = await Deno.readFile(path);
  assertEquals([...whole.subarray(0, 2)], [0x50, 0x4b]);
  assertRefused(await desk.run(["archive", "photos:"]), 1, /photos\.zip exists: --force/);
  await desk.text("archive", "photos:trip/", "photos:cat.jpg", "--force", "--output", "photos.zip");
  assert((await Deno.stat(path)).size < 1000);
  assertRefused(await desk.run(["archive", "photos:absent", "-o", "a.zip"]), 1, /no file "absent"/);
  assertRefused(await desk.run(["archive", "photos:", "other:x"]), 2, /files of one drive/);
  const piped = await desk.start(["archive", "photos:cat.jpg", "-o", "-"]).finished();
  assertEquals([piped.code, piped.stdout.slice(0, 2), piped.stderr], [0, "PK", ""]);
  assertEquals((await namesIn(desk.folder.path)).filter((name) => /part$|a\.zip/.test(name)), []);
});

Deno.test("A drive is created empty, listed, and refused if it exists.", async () => {
  await using desk = await ClientWorkspace.open();
  assertEquals(
    await desk.text("drive", "create", "new drive"),
    "The drive new drive is created.\n",
  );
  assertMatch(await desk.text("drive", "list"), /new drive +0 +0\n/);
  assertRefused(
    await desk.run(["drive", "create", "new drive"]),
    1,
    /There is a drive "new drive"/,
  );
  assertRefused(await desk.run(["drive", "create", "a/b"]), 2, /The drive name/);
  await desk.text("drive", "delete", "new drive", "--yes");
  assertEquals(await desk.text("drive", "list"), "There are no drives.\n");
});
