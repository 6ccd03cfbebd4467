import { assert, assertEquals } from "@std/assert";
import { ADMINISTERED } from "../support/admin.ts";
import { PROJECT_ID } from "../support/server.ts";
import { all, clientSuite, connectTo, namesIn, refused } from "../support/typed_client/client.ts";
import { connect } from "../support/typed_client/package.ts";

const step = clientSuite("The client does what a project key may do", ADMINISTERED);

step("Links", async (drive) => {
  await drive.put("trip/a.txt", "Hello");
  const link = await drive.links.create({ name: "trip/a.txt", expiresIn: 60, maxDownloads: 2 });
  assertEquals([link.max_downloads, link.has_password, link.download], [2, false, false]);
  assertEquals(await (await fetch(link.url)).text(), "Hello");
  const other = await drive.links.create({ prefix: "trip/", password: "secret", download: true });
  const [newest, oldest] = await all(drive.links.list());
  assertEquals([newest?.id, oldest?.id, oldest?.downloads], [other.id, link.id, 1]);
  const changed = await drive.links.change(link.id, { maxDownloads: null, expiresIn: null });
  assertEquals([changed.url, changed.max_downloads, changed.expires], [link.url, null, null]);
  assertEquals(await drive.links.delete(link.id), true);
  assertEquals(await drive.links.delete(link.id), false);
  const gone = await fetch(link.url);
  await gone.body?.cancel();
  assertEquals(gone.status, 404);
});

step("Folders", async (drive) => {
  assertEquals((await drive.folders.create("trip/2026/")).name, "trip/2026/");
  await drive.folders.create("other/");
  assertEquals(await all(drive.folders.list()), ["other/", "trip/2026/"]);
  assertEquals(await all(drive.folders.list({ prefix: "trip/" })), ["trip/2026/"]);
  assertEquals((await all(drive.list({ recursive: false }))).map(({ name }) => name), [
    "other/",
    "trip/",
  ]);
  await drive.folders.delete("trip/2026/");
  assertEquals(await all(drive.folders.list()), ["other/"]);
  assertEquals((await refused(() => drive.folders.create("trip")))[0], 400);
});

step("Trash", async (drive, project) => {
  assertEquals((await project.change({ trashDays: 7 })).trash_days, 7);
  await drive.put("a", "one");
  await drive.put("a", "two");
  await drive.delete("a");
  const items = await all(drive.trash.list());
  assertEquals(items.map(({ reason }) => reason), ["deleted", "replaced"]);
  assertEquals(await all(drive.trash.list({ prefix: "b" })), []);
  const [deleted, replaced] = items.map(({ id }) => id);
  assert(deleted !== undefined && replaced !== undefined);
  assertEquals(await drive.trash.restore([replaced]), { restored: [replaced], failed: [] });
  assertEquals(await (await drive.get("a"))?.text(), "one");
  const { failed } = await drive.trash.restore([deleted, replaced]);
  assertEquals(failed.map(({ code }) => code), ["file_exists", "trash_item_not_found"]);
  await drive.trash.restore([deleted], { overwrite: true });
  assertEquals(await (await drive.get("a"))?.text(), "two");
  await drive.delete("a");
  const [first] = await all(drive.trash.list());
  assertEquals(await drive.trash.delete([first?.id ?? ""]), 1);
  assertEquals(await drive.trash.empty(), 1);
  assertEquals(await drive.trash.delete([]), 0);
  await project.change({ trashDays: 0 });
});

step("Whole folders", async (drive, project) => {
  for (const name of ["a/1", "a/2", "b/1"]) await drive.put(name, "Hello");
  assertEquals(await drive.measure({ prefix: "a/" }), { files: 2, bytes: 10 });
  assertEquals(await drive.measure(), { files: 3, bytes: 15 });
  assertEquals(await drive.existing("b/1", "none", "a/"), ["b/1", "a/"]);
  assertEquals(await drive.copyPrefix("a/", "c/"), { done: 2, failed: [] });
  const { done, failed } = await drive.movePrefix("a/", "b/");
  assertEquals([done, failed.map(({ name, code }) => [name, code])], [1, [["a/1", "file_exists"]]]);
  await project.change({ trashDays: 1 });
  assertEquals(await drive.deletePrefix("c/"), { deleted: 2, failed: [] });
  assertEquals(await drive.trash.restorePrefix("c/"), { restored: 2, failed: [] });
  await project.change({ trashDays: 0 });
  assertEquals(await namesIn(drive), ["a/1", "b/1", "b/2", "c/1", "c/2"]);
});

step("Archives", async (drive) => {
  await drive.put("trip/a.txt", "Hello");
  const archive = await drive.archive({ prefixes: ["trip/"] });
  const bytes = new Uint8Array(await new Response(archive).arrayBuffer());
  assertEquals(bytes.subarray(0, 2), new TextEncoder().encode("PK"));
  assertEquals(await refused(() => drive.archive({ names: ["missing"] })), [404, "file_not_found"]);
});

step("Uploads", async (drive) => {
  const { upload_id } = await drive.uploads.start("a", { contentType: "text/x-own" });
  assertEquals((await drive.uploads.putPart(upload_id, "a", 1, "Hello")).part, 1);
  const [part] = (await drive.uploads.get(upload_id, "a"))?.parts ?? [];
  assertEquals([part?.part, part?.size], [1, 5]);
  assertEquals((await all(drive.uploads.list())).map(({ name }) => name), ["a"]);
  await drive.uploads.complete(upload_id, "a", { ifNoneMatch: "*" });
  assertEquals((await drive.get("a"))?.contentType, "text/x-own");
  const other = await drive.uploads.start("b");
  assertEquals(await drive.uploads.abort(other.upload_id, "b"), true);
  assertEquals(await drive.uploads.abort(other.upload_id, "b"), false);
});

step("Drives, page by page", async (drive, project) => {
  await drive.put("a", "Hello");
  const [found] = await all(project.drives({ prefix: drive.name }));
  assertEquals(found, { drive_name: drive.name, files: 1, bytes: 5 });
  assertEquals(await project.deleteDrive(drive.name), true);
  assertEquals(await all(project.drives({ prefix: drive.name })), []);
});

step("An empty drive", async (_, project) => {
  assertEquals((await project.createDrive("empty")).drive_name, "empty");
  assertEquals(await refused(() => project.createDrive("empty")), [409, "drive_exists"]);
  assertEquals(await all(project.drives({ prefix: "empty" })), [
    { drive_name: "empty", files: 0, bytes: 0 },
  ]);
});

step("The project, its usage and its log", async (_, project) => {
  assertEquals(project.id, PROJECT_ID);
  const { project_id, bytes, max_bytes } = await project.details();
  assertEquals([project_id, typeof bytes, max_bytes], [PROJECT_ID, "number", null]);
  assertEquals(await refused(() => project.change({ maxBytes: 5 })), [403, "administrator_only"]);
  assertEquals((await project.usage({ days: 2 })).length <= 2, true);
  const [event] = await all(project.events());
  assertEquals(typeof event?.at, "string");
});

step("Keys", async (drive, project, server) => {
  const own = await project.whoami();
  assertEquals([own.project_id, own.drives], [PROJECT_ID, null]);
  const { project_key, prefix } = await project.keys.create({
    name: "reader",
    permissions: ["read"],
    drives: [drive.name],
    namePrefix: "public/",
    expiresIn: 3600,
  });
  const limited = connectTo(server, { key: project_key });
  const { permissions, name_prefix } = await limited.whoami();
  assertEquals([permissions, name_prefix], [["read"], "public/"]);
  assertEquals(await refused(() => limited.drive(drive.name).put("public/a", "x")), [
    403,
    "missing_permission",
  ]);
  assert((await project.keys.list()).some((key) => key.prefix === prefix));
  assertEquals(await project.keys.delete(prefix), true);
  assertEquals(await project.keys.delete(prefix), false);
  assertEquals(await refused(() => limited.whoami()), [401, "unknown_key"]);
  assertEquals(await refused(() => limited.drive("a").head("a")), [401, "unknown_key"]);
  const s3Key = await project.s3Keys.create({ name: "backup", drives: [drive.name] });
  assertEquals((await project.s3Keys.list()).map((key) => key.access_key_id), [
    s3Key.access_key_id,
  ]);
  assertEquals(await project.s3Keys.delete(s3Key.access_key_id), true);
});

step("Applications", async (_, project) => {
  const app = await project.apps.create({ name: "viewer", access: { enabled: true } });
  assertEquals(app.access, { enabled: true });
  assertEquals((await project.apps.list()).map(({ name }) => name), ["viewer"]);
  assertEquals((await project.apps.get("viewer"))?.name, "viewer");
  assertEquals(await project.apps.get("none"), undefined);
  const keys = project.apps.keys("viewer");
  const key = await keys.create({ name: "ci/1", description: "The nightly run" });
  assertEquals(key.api_key.split(".")[0], key.prefix);
  assertEquals((await keys.list()).map(({ name }) => name), ["ci/1"]);
  assertEquals([await keys.delete("ci/1"), await keys.delete("ci/1")], [true, false]);
  assertEquals(await project.apps.setAccess("viewer", { enabled: false }), { enabled: false });
  assertEquals(await refused(() => keys.create({ name: "ci" })), [409, "access_off"]);
  assertEquals((await project.apps.change("viewer", { host: null })).host, null);
  assertEquals([await project.apps.delete("viewer"), await project.apps.delete("viewer")], [
    true,
    false,
  ]);
});

step("Bad addresses and keys are refused before anything is sent", async (drive, _, server) => {
  const key = "p1_0123456789abcdefghijABCDEFGHIJ";
  const urls = ["", "files.example.com", "ftp://a", "http://u:secret@a", "http://a?key=secret"];
  for (const url of urls) {
    const [status, code] = await refused(() => Promise.resolve().then(() => connect({ url, key })));
    assertEquals([status, code], [0, "invalid_argument"], url);
  }
  for (const bad of ["", "p1", "_x", "p 1_x", "p1_a b", "p1_a\nb"]) {
    const call = () => Promise.resolve().then(() => connect({ url: server.origin, key: bad }));
    assertEquals(await refused(call), [0, "invalid_argument"], bad);
  }
  const wrong = connectTo(server, { key: `other_${"x".repeat(32)}` });
  assertEquals((await refused(() => wrong.drive("a").put("a", "x")))[0], 401);
  assertEquals(await namesIn(drive), []);
});

step("The address may have a path, and slashes at its end", async (drive, _, server) => {
  const calls: string[] = [];
  const project = connectTo(server, {
    url: "https://files.example.com/below/it//",
    fetch: (request) => {
      calls.push(request.url);
      return fetch(
        request.url.replace("https://files.example.com/below/it", server.origin),
        request,
      );
    },
  });
  await project.drive(drive.name).put("a", "x");
  assertEquals(calls.map((url) => url.split("?")[0]), [
    `https://files.example.com/below/it/v1/${PROJECT_ID}/${drive.name}/files`,
  ]);
});
