import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { auditStore } from "../faults/support/audit/store_audit.ts";
import { sweepStore } from "../faults/support/crash.ts";
import { administer, ADMINISTERED, Project, PROJECTS } from "../support/admin.ts";
import { assertSameBytes, patternBytes } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, Upload, uploadParts } from "../support/drive.ts";
import { PROJECT_ID, TestServer } from "../support/server.ts";
import { linksOf, makeLink, visit } from "../support/sharing/links.ts";
import { COUNTED_WITHIN, waitUntilKnown } from "../support/store/commands.ts";

const DRIVE = "photos";
const LARGE = patternBytes(300_000);
/** Rounds of a race. */
const ROUNDS = 6;
/** Replaced bytes are reclaimed within this time, in milliseconds. */
const RECLAIMED_WITHIN = 95_000;
/** The pause after each 128 KiB of a slow download, in milliseconds. */
const READ_PAUSE = 300;

/** Two servers on one store, each with the same drive. */
class Pair implements AsyncDisposable {
  readonly a: Drive;
  readonly b: Drive;

  private constructor(
    readonly folder: Folder,
    readonly first: TestServer,
    readonly second: TestServer,
  ) {
    this.a = new Drive(first, DRIVE);
    this.b = new Drive(second, DRIVE);
  }

  static async start(): Promise<Pair> {
    const folder = await Folder.make();
    const options = { ...ADMINISTERED, data: folder.path };
    return new Pair(folder, await TestServer.start(options), await TestServer.start(options));
  }

  /** Changes the project through the first server. */
  async change(body: unknown): Promise<void> {
    (await administer(this.first, "PATCH", `${PROJECTS}/${PROJECT_ID}`, { body })).expect(200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.first[Symbol.asyncDispose]();
    await this.second[Symbol.asyncDispose]();
    await this.folder[Symbol.asyncDispose]();
  }
}

/** Sends a JSON body. */
async function post(drive: Drive, path: string, body: unknown, status: number): Promise<unknown> {
  const answer = await drive.send("POST", path, { body: JSON.stringify(body) });
  return answer.expect(status).json;
}

interface Item {
  id: string;
  name: string;
  size: number;
}

async function trashOf(drive: Drive): Promise<Item[]> {
  const page = (await drive.send("GET", "/trash")).expect(200).json;
  return (page as { items: Item[] }).items;
}

/** The address of a link at another server. */
function linkAt(server: TestServer, url: string): string {
  return server.origin + new URL(url).pathname;
}

Deno.test("What one server writes, copies, moves, trashes and restores is at the other at once.", async () => {
  await using pair = await Pair.start();
  const { a, b } = pair;
  await pair.change({ trash_days: 30 });
  await a.put("one", LARGE);
  await post(b, "/files/copy", { from: "one", to: "two" }, 201);
  await post(a, "/files/move", { from: "two", to: "three" }, 200);
  await b.delete(["one"]);
  assertEquals(await a.names({ contains: "E" }), ["three"]);
  assertSameBytes((await a.get("three")).expect(200).bytes, LARGE);
  const [item] = await trashOf(a);
  await post(a, "/trash/restore", { ids: [item?.id] }, 200);
  assertSameBytes((await b.get("one")).expect(200).bytes, LARGE);
  const upload = await Upload.start(a, "four");
  (await new Upload(b, "four", upload.id).send(1, LARGE)).expect(200);
  (await upload.complete()).expect(200);
  await post(b, "/files/copy", { from: "four", to: "five" }, 201);
  await a.delete(["four", "one", "three"]);
  assertEquals(await b.names(), ["five"]);
  assertSameBytes((await b.get("five")).expect(200).bytes, LARGE);
  assertEquals(await a.usage(), await b.usage());
  assertEquals(await b.usage(), { files: 1, bytes: LARGE.byteLength });
});

Deno.test("A setting of one server holds for the next write to the other.", async () => {
  await using pair = await Pair.start();
  const { b } = pair;
  await b.put("a", "12345");
  await pair.change({ trash_days: 30 });
  await b.delete(["a"]);
  assertEquals((await trashOf(b)).map(({ name }) => name), ["a"]);
  await pair.change({ trash_days: 0, max_bytes: 10 });
  await b.put("b", "12345");
  (await b.send("POST", "/files?name=c", { body: "123456" })).expect(507);
});

Deno.test("A file that expires does so at both servers, at that moment.", async () => {
  await using pair = await Pair.start();
  const { a, b } = pair;
  await a.put("a", "x");
  assertEquals(await b.text("a"), "x");
  (await a.send("PATCH", "/files?name=a", { body: '{"expires_in": 1}' })).expect(200);
  await waitUntilKnown(async () => (await b.get("a")).status === 404);
  for (const drive of [a, b]) {
    (await drive.get("a")).expect(404);
    assertEquals(await drive.names(), []);
  }
  for (const drive of [a, b]) {
    await waitUntilKnown(async () => (await drive.usage())?.files === 0, COUNTED_WITHIN);
  }
});

Deno.test("A limit of downloads is exact through two servers, and downloads are counted soon.", async () => {
  await using pair = await Pair.start();
  const { a, b, second } = pair;
  await a.put("a", "inside");
  const limited = await makeLink(a, { name: "a", max_downloads: 5 });
  const urls = [limited.url, linkAt(second, limited.url)];
  const visits = Array.from({ length: 20 }, (_, i) => visit(urls[i % 2] ?? ""));
  const statuses = (await Promise.all(visits)).map(({ status }) => status).sort();
  assertEquals(statuses, [...Array(5).fill(200), ...Array(15).fill(404)]);
  const { url } = await makeLink(b, { name: "a" });
  (await visit(url)).expect(200);
  await waitUntilKnown(async () => (await linksOf(a))[0]?.downloads === 1);
});

Deno.test("The other server knows within five seconds what was revoked or deleted.", async () => {
  await using pair = await Pair.start();
  const { a, b, first, second } = pair;
  const project = await Project.make(first);
  const key = await project.makeKey();
  const owned = { project: project.id, key: project.key };
  const [doomed, there] = [new Drive(first, "x", owned), new Drive(second, "x", owned)];
  const other = new Drive(second, "x", { project: project.id, key: key.project_key });
  await a.put("a", "x");
  const link = await makeLink(a, { name: "a" });
  const inDoomed = await makeLink(doomed, { prefix: "" });
  await doomed.put("b", "x");
  await post(doomed, "/folders", { name: "c/" }, 201);
  // The second server has all of it in its caches.
  const opened = [linkAt(second, link.url), `${linkAt(second, inDoomed.url)}?name=b`];
  for (const url of opened) (await visit(url)).expect(200);
  for (const drive of [b, there, other]) (await drive.send("GET", "/files")).expect(200);

  (await a.send("DELETE", `/links/${link.id}`)).expect(200);
  (await project.call("DELETE", `/keys/${key.prefix}`)).expect(200);
  (await project.call("DELETE", "/drives/x")).expect(202);
  const isGone = async (path: string, what: string): Promise<boolean> => {
    const body = (await there.send("GET", path)).expect(200).json as Record<string, unknown[]>;
    return body[what]?.length === 0;
  };
  await Promise.all([
    ...opened.map((url) => waitUntilKnown(async () => (await visit(url)).status === 404)),
    waitUntilKnown(async () => (await other.send("GET", "/files")).status === 401),
    waitUntilKnown(() => isGone("/files", "names")),
    waitUntilKnown(() => isGone("/folders", "folders")),
    waitUntilKnown(() => isGone("/links", "links")),
  ]);
});

Deno.test("A write that one server accepts while another removes the drive is kept.", async () => {
  await using pair = await Pair.start();
  const { a, b, first } = pair;
  for (let round = 0; round < 3; round++) {
    await a.putAll(Array.from({ length: 150 }, (_, i) => `old ${i}`));
    await b.names();
    const path = `${PROJECTS}/${PROJECT_ID}/drives/${DRIVE}`;
    const removed = administer(first, "DELETE", path);
    const kept: string[] = [];
    let isRemoved = false;
    removed.then(() => isRemoved = true);
    for (let i = 0; kept.length < 5; i++) {
      const name = `new ${round} ${i}`;
      const begunAfter = isRemoved;
      const { status } = await b.send("POST", `/files?name=${name}`, { body: name });
      assert(status === 201 || status === 409, `${status}`);
      // One that ended before the removal began is removed with the drive.
      if (status === 201 && begunAfter) kept.push(name);
      if (status === 409) await delay(5);
    }
    (await removed).expect(202);
    assertEquals((await b.names()).filter((name) => kept.includes(name)), kept.sort());
    for (const name of kept) assertEquals(await a.text(name), name);
    await a.delete(await a.names());
  }
});

Deno.test("Races of two servers for a file, its copy and the trash lose no bytes and leave none.", async () => {
  await using pair = await Pair.start();
  const { a, b, folder } = pair;
  await pair.change({ trash_days: 30 });
  for (let round = 0; round < ROUNDS; round++) {
    await a.put("file", LARGE);
    await post(b, "/files/copy", { from: "file", to: "copy" }, 201);
    await a.delete(["file"]);
    const id = (await trashOf(b)).find(({ name }) => name === "file")?.id ?? "";
    const restore = async (drive: Drive): Promise<number> => {
      const answer = await post(drive, "/trash/restore", { ids: [id] }, 200);
      return (answer as { restored: string[] }).restored.length;
    };
    const emptied = round % 3 === 0 ? '{"all": true}' : JSON.stringify({ ids: [id] });
    const [first, second] = await Promise.all([
      restore(a),
      restore(b),
      b.delete(["copy"]),
      round % 2 === 0 ? b.put("file", "new") : a.send("DELETE", "/trash", { body: emptied }),
      a.send("POST", "/files/copy", { body: '{"from": "copy", "to": "again"}' }),
      b.send("POST", "/files/move", { body: '{"from": "file", "to": "moved"}' }),
    ]);
    assert(first + second <= 1, "The item was restored twice");
    const files = await a.details();
    for (const { name, size } of files) {
      const { bytes } = (await b.get(name)).expect(200);
      assertSameBytes(bytes, size === LARGE.byteLength ? LARGE : new TextEncoder().encode("new"));
    }
    const total = files.reduce((sum, { size }) => sum + size, 0);
    assertEquals(await b.usage(), { files: files.length, bytes: total });
    // What is in the trash has its bytes, too.
    for (const item of await trashOf(a)) {
      await post(b, "/trash/restore", { ids: [item.id], overwrite: true }, 200);
      assertEquals((await a.get(item.name)).expect(200).bytes.byteLength, item.size);
    }
    await b.delete(await b.names());
  }
  for (const server of [pair.first, pair.second]) await server.stop();
  await auditStore(folder.path, false);
  for (let i = 0; i < 2; i++) await sweepStore(folder.path);
  await auditStore(folder.path, true);
});

Deno.test("A slow download ends with the bytes that it began with, although another server replaces the file.", async () => {
  await using pair = await Pair.start();
  const { a, b } = pair;
  const part = patternBytes(10_000_000);
  const parts = Array.from({ length: 6 }, () => part);
  await uploadParts(a, "film", parts);
  const before = new Uint8Array(await new Blob(parts).arrayBuffer());
  const path = `/files/download?name=film`;
  const { body } = await a.server.fetch(a.name, path, { method: "GET" });
  assert(body !== null);
  const reader = body.getReader({ mode: "byob" });
  const received: Uint8Array<ArrayBuffer>[] = [];
  const readPiece = async (): Promise<boolean> => {
    const { value, done } = await reader.read(new Uint8Array(128 * 1024));
    if (value !== undefined) received.push(value);
    return !done;
  };
  await readPiece();
  await b.put("film", "new");
  // Until the other server has reclaimed what is not read.
  const end = Date.now() + RECLAIMED_WITHIN;
  while (Date.now() < end && await readPiece()) await delay(READ_PAUSE);
  const left = before.byteLength - received.reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert(left > 10_000_000, `It was too fast: ${left} bytes were left`);
  while (await readPiece());
  assertSameBytes(new Uint8Array(await new Blob(received).arrayBuffer()), before);
  assertEquals(await a.text("film"), "new");
});
