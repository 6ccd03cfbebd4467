import { assert, assertEquals, assertMatch } from "@std/assert";
import { equals } from "@std/bytes/equals";
import { ClientWorkspace, someBytes, waitUntil } from "../support/cli/client.ts";
import { cutAfter, Proxy } from "../support/cli/proxy.ts";

const PART = 10 * 2 ** 20;
const NEVER = new Promise<never>(() => {});

/** The number of the part that a request sends; `undefined` where it sends none. */
function partOf({ method, url }: Request): number | undefined {
  const { pathname, searchParams } = new URL(url);
  if (method !== "POST" || !pathname.endsWith("/parts")) return undefined;
  return Number(searchParams.get("part"));
}

/** Sends a file until all parts but these have arrived, and ends the command then. */
async function interruptedPut(
  desk: ClientWorkspace,
  proxy: Proxy,
  missing: readonly number[],
): Promise<void> {
  const bytes = await Deno.readFile(desk.folder.at("film"));
  const count = Math.ceil(bytes.byteLength / PART);
  let arrived = 0;
  proxy.intercept = async (request, pass) => {
    const part = partOf(request);
    if (part === undefined) return await pass();
    if (missing.includes(part)) return await NEVER;
    const answer = await pass();
    arrived++;
    return answer;
  };
  const running = desk.start(["put", "film", "d:film"], { url: proxy.origin });
  await waitUntil("the other parts arrive", () => arrived === count - missing.length);
  // What has arrived is noted on this side right after its answer has come.
  await waitUntil("all of it is noted", async () => await notedParts(desk) === arrived);
  await running.kill();
}

/** Lines about parts in what is remembered. */
async function notedParts(desk: ClientWorkspace): Promise<number> {
  const folder = desk.folder.at("state/kvdrive/uploads");
  let count = 0;
  for await (const { name } of Deno.readDir(folder)) {
    const text = await Deno.readTextFile(`${folder}/${name}`);
    count += text.split("\n").filter((line) => line.startsWith('{"part"')).length;
  }
  return count;
}

Deno.test("An interrupted upload resumes with the missing parts.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  const bytes = someBytes(5 * PART + 9);
  await desk.folder.write("film", bytes);
  await interruptedPut(desk, proxy, [2, 4]);
  assertEquals(await desk.stored("d", "film"), undefined);
  const sent: (number | undefined)[] = [];
  proxy.intercept = (request, pass) => {
    const part = partOf(request);
    if (part !== undefined) sent.push(part);
    return pass();
  };
  const run = await desk.run(["put", "film", "d:film", "--json"], { url: proxy.origin });
  assertEquals(run.code, 0, run.stderr);
  assertEquals(sent.sort(), [2, 4]);
  const { resumed } = JSON.parse(run.stdout) as { resumed: number };
  assertEquals(resumed, 3 * PART + 9);
  assert(equals(await desk.stored("d", "film") ?? new Uint8Array(), bytes));
  // What is done is not remembered.
  assertEquals([...Deno.readDirSync(desk.folder.at("state/kvdrive/uploads"))], []);
});

Deno.test("A file that changed since the interruption is uploaded from the beginning.", async () => {
  await using desk = await ClientWorkspace.open();
  for (const how of ["longer", "shorter", "same size and time"]) {
    await using proxy = Proxy.start(desk.server.origin);
    const path = await desk.folder.write("film", someBytes(4 * PART, 1));
    await interruptedPut(desk, proxy, [3]);
    const { mtime } = await Deno.stat(path);
    const size = { longer: 4 * PART + 1, shorter: 2 * PART + 5 }[how] ?? 4 * PART;
    const bytes = someBytes(size, 2);
    await Deno.writeFile(path, bytes);
    if (how === "same size and time") await Deno.utime(path, mtime ?? 0, mtime ?? 0);
    await desk.text("put", "film", "d:film");
    assert(equals(await desk.stored("d", "film") ?? new Uint8Array(), bytes), how);
    await desk.text("rm", "d:film", "--yes");
    await Deno.remove(desk.folder.at("state"), { recursive: true });
  }
});

Deno.test("An upload that the server no longer knows starts again.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  const bytes = someBytes(2 * PART + 9);
  await desk.folder.write("film", bytes);
  await interruptedPut(desk, proxy, [2]);
  const listed = await (await desk.server.fetch("d", "/uploads")).json();
  const id = (listed as { uploads: { upload_id: string }[] }).uploads[0]?.upload_id;
  const gone = await desk.server.fetch("d", `/uploads/${id}?name=film`, { method: "DELETE" });
  assertEquals(gone.status, 200);
  await desk.text("put", "film", "d:film");
  assert(equals(await desk.stored("d", "film") ?? new Uint8Array(), bytes));
});

Deno.test("A file that changes while it is sent is not stored.", async () => {
  await using desk = await ClientWorkspace.open();
  await using proxy = Proxy.start(desk.server.origin);
  await desk.store("d", "film", "earlier");
  const path = await desk.folder.write("film", someBytes(2 * PART));
  proxy.intercept = async (request, pass) => {
    const answer = await pass();
    if (partOf(request) === 2) await Deno.writeFile(path, someBytes(2 * PART + 1, 3));
    return answer;
  };
  const run = await desk.run(["put", "film", "d:film"], { url: proxy.origin });
  assertEquals(run.code, 1);
  assertMatch(run.stderr, /failed: d:film: The file changed while it was read/);
  assertEquals(await desk.stored("d", "film"), new TextEncoder().encode("earlier"));
  const left = await (await desk.server.fetch("d", "/uploads")).json();
  assertEquals(left, { uploads: [] });
});

/** Fetches a file until so many bytes are here, and ends the command then. */
async function interruptedGet(desk: ClientWorkspace, proxy: Proxy, bytes: number): Promise<void> {
  proxy.intercept = async (request, pass) => {
    const answer = await pass();
    return request.method === "GET" ? cutAfter(answer, bytes, NEVER) : answer;
  };
  const running = desk.start(["get", "d:film", "film"], { url: proxy.origin });
  await waitUntil("the bytes are here", async () => await partialSize(desk) === bytes);
  await running.kill();
  // The server would wait for the client to read the rest.
  proxy.intercept = (_request, pass) => pass();
}

async function partialSize(desk: ClientWorkspace): Promise<number> {
  for await (const { name } of Deno.readDir(desk.folder.path)) {
    if (name.startsWith(".kvdrive-")) return (await Deno.stat(desk.folder.at(name))).size;
  }
  return 0;
}

Deno.test("An interrupted download resumes where it ended; no incomplete file has the final name.", async () => {
  await using desk = await ClientWorkspace.open();
  const bytes = someBytes(2_000_000);
  await desk.store("d", "film", bytes);
  await using proxy = Proxy.start(desk.server.origin);
  await interruptedGet(desk, proxy, 1_234_567);
  assert(!await desk.folder.has("film"));
  proxy.seen.length = 0;
  const run = await desk.run(["get", "d:film", "film"], { url: proxy.origin });
  assertEquals(run.code, 0, run.stderr);
  const ranges = proxy.seen.map(({ headers }) => headers.get("range")).filter((one) => one);
  assertEquals(ranges, ["bytes=1234567-"]);
  assert(equals(await Deno.readFile(desk.folder.at("film")), bytes));
  assertEquals(await partialSize(desk), 0);
});

Deno.test("A file that was replaced between two attempts is downloaded from its start.", async () => {
  await using desk = await ClientWorkspace.open();
  await desk.store("d", "film", someBytes(2_000_000, 1));
  await using proxy = Proxy.start(desk.server.origin);
  await interruptedGet(desk, proxy, 1_000_000);
  const later = someBytes(2_000_000, 2);
  await desk.store("d", "film", later);
  await desk.text("get", "d:film", "film");
  assert(equals(await Deno.readFile(desk.folder.at("film")), later));
});
