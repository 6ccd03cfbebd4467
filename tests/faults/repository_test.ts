/**
 * Repositories on bad days: processes that are killed, a target that cuts, delays, lies and refuses, and writers and
 * prunes at the same time.
 */
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import { delay } from "@std/async/delay";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { type CommandResult, Folder, spawnProgram } from "../support/command.ts";
import { Drive } from "../support/drive.ts";
import { TestServer } from "../support/server.ts";
import { S3Server } from "../support/s3/s3_server.ts";
import { StoreCommands } from "../support/store/commands.ts";
import { copyStock } from "../support/store/stocked_store.ts";
import { runAround, runProgram } from "./support/program_run.ts";
import { announceSeed, isFull, Random } from "./support/random.ts";

const DRIVE = "drive";
const FILES = 24;

/** Makes a store with files of one mebibyte. */
async function makeStore(data: string): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  for (let i = 0; i < FILES; i++) await drive.put(`file-${i}`, patternBytes(MIB, i));
  await server.stop();
}

async function assertWhole(data: string): Promise<void> {
  await using server = await TestServer.start({ data });
  const drive = new Drive(server, DRIVE);
  for (let i = 0; i < FILES; i++) {
    assertSameBytes((await drive.get(`file-${i}`)).bytes, patternBytes(MIB, i));
  }
  await server.stop();
}

async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for await (const { name } of Deno.readDir(folder)) {
    sum += (await Deno.stat(`${folder}/${name}`)).size;
  }
  return sum;
}

/** Starts a command and kills it after a time. */
async function killed(args: string[], after: number): Promise<void> {
  const process = spawnProgram(args, {});
  await delay(after);
  try {
    process.kill("SIGKILL");
  } catch {
    // It has ended.
  }
  await process.status;
}

function assertOk({ code, stderr }: CommandResult): void {
  assertEquals(code, 0, stderr);
}

Deno.test("Snapshots that are killed cost nothing that arrived.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const data = folder.at("data");
  await makeStore(data);
  const [fresh, repo] = [folder.at("fresh"), folder.at("repo")];
  const commands = new StoreCommands(data);
  await commands.text("backup", "--to", fresh);
  const backup = ["backup", "--to", repo, "--data", data, "--bandwidth", "20MB"];
  for (let round = 0; round < (isFull() ? 40 : 4); round++) {
    await killed(backup, 500 + random.below(1500));
    const { code, stdout } = await runProgram(["backup", "list", "--to", repo, "--json"]);
    if (code === 0 && stdout !== "[]\n") break;
  }
  await commands.text("backup", "--to", repo);
  const sent = await bytesIn(`${repo}/data`);
  assert(sent < 1.02 * await bytesIn(`${fresh}/data`), String(sent));
  assertOk(await runProgram(["backup", "check", "--to", repo, "--read-all"]));
  const restored = folder.at("restored");
  const restore = ["restore", "--from", repo, "--data", restored];
  for (let round = 0; round < (isFull() ? 20 : 3); round++) {
    await killed(restore, 400 + random.below(1200));
    if ((await runProgram(["verify", "--data", restored])).code === 0) break;
  }
  const { code, stderr } = await runProgram(restore);
  assert(code === 0 || /There is a store/.test(stderr), stderr);
  await assertWhole(restored);
});

Deno.test("Writers, and prunes beside them, leave snapshots that are whole.", async () => {
  await using folder = await Folder.make();
  const data = folder.at("data");
  await makeStore(data);
  const repo = folder.at("repo");
  const commands = new StoreCommands(data);
  await commands.text("backup", "--to", repo);
  const rounds = isFull() ? 20 : 2;
  for (let round = 0; round < rounds; round++) {
    {
      await using server = await TestServer.start({ data });
      await new Drive(server, DRIVE).put(`round-${round}`, patternBytes(MIB, 100 + round));
      await server.stop();
    }
    const results = await Promise.all([
      runProgram(["backup", "--to", repo, "--data", data, "--bandwidth", "2MB"]),
      runProgram(["backup", "--to", repo, "--data", data]),
      runProgram(["backup", "prune", "--to", repo, "--keep-last", "1"]),
    ]);
    for (const { code, stderr } of results) {
      assert(code === 0 || /is running|changed meanwhile/.test(stderr), stderr);
    }
  }
  assertOk(await runProgram(["backup", "check", "--to", repo, "--read-all"]));
  await new StoreCommands(folder.at("restored")).text("restore", "--from", repo);
  await assertWhole(folder.at("restored"));
});

/** What a proxy does with an exchange. */
type Fault = "pass" | "refuse" | "cut" | "flip" | "truncate" | "delay" | "lose";

/** How often a proxy sends wrong bytes of an object: a reader asks three times. */
const MAX_LIES = 2;

/** A proxy in front of S3 that follows a plan. */
function startProxy(
  target: string,
  plan: () => Fault,
): { origin: string; server: Deno.HttpServer } {
  const lies = new Map<string, number>();
  const mayLie = (path: string) => {
    const count = (lies.get(path) ?? 0) + 1;
    lies.set(path, count);
    return count <= MAX_LIES;
  };
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const url = new URL(request.url);
      const planned = plan();
      // A list has no checksum: that one of its characters is another cannot be noticed.
      const isUnnoticed = planned === "flip" && url.searchParams.has("list-type");
      const isLie = planned === "flip" || planned === "truncate";
      const fault = isUnnoticed || isLie && !mayLie(url.pathname) ? "pass" : planned;
      if (fault === "refuse") {
        return new Response("<Error><Code>SlowDown</Code></Error>", {
          status: 503,
        });
      }
      if (fault === "delay") await delay(300);
      const headers = new Headers(request.headers);
      const body = await request.arrayBuffer();
      headers.set("x-forwarded-host", url.host);
      const answer = await forward(target, url, request.method, request.headers, body);
      if (fault === "lose") return new Response(null, { status: 500 });
      const bytes = answer.body;
      if (fault === "flip" && bytes.length > 0 && request.method === "GET") {
        bytes[Math.floor(bytes.length / 2)]! ^= 1;
      }
      const isShort = fault === "truncate" && request.method === "GET" && bytes.length > 10;
      const sent = isShort ? bytes.subarray(0, bytes.length >> 1) : bytes;
      if (fault === "cut" && request.method === "GET") {
        const stream = new ReadableStream({
          start(controller) {
            controller.enqueue(bytes.subarray(0, bytes.length >> 1));
            controller.error(new Error("cut"));
          },
        });
        return new Response(stream, { status: answer.status });
      }
      return new Response([204, 304].includes(answer.status) ? null : sent, {
        status: answer.status,
      });
    },
  );
  return { origin: `http://127.0.0.1:${server.addr.port}`, server };
}

/** Passes a request on with its own `Host`, which the signature covers. */
async function forward(
  target: string,
  url: URL,
  method: string,
  headers: Headers,
  body: ArrayBuffer,
): Promise<{ status: number; body: Uint8Array<ArrayBuffer> }> {
  const { hostname, port } = new URL(target);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  try {
    const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`];
    for (const [name, value] of headers) if (name !== "connection") lines.push(`${name}: ${value}`);
    if (!headers.has("content-length")) lines.push(`content-length: ${body.byteLength}`);
    lines.push("connection: close", "", "");
    const head = new TextEncoder().encode(lines.join("\r\n"));
    const writer = connection.writable.getWriter();
    await writer.write(head);
    if (body.byteLength > 0) await writer.write(new Uint8Array(body));
    const all = new Uint8Array(await new Response(connection.readable).arrayBuffer());
    const text = new TextDecoder("latin1").decode(all.subarray(0, 4096));
    const end = text.indexOf("\r\n\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]);
    const rest = all.slice(end + 4);
    return {
      status,
      body: /transfer-encoding: chunked/i.test(text.slice(0, end)) ? unchunk(rest) : rest,
    };
  } finally {
    try {
      connection.close();
    } catch {
      // The other side has closed it.
    }
  }
}

function unchunk(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  let at = 0;
  while (at < bytes.length) {
    const line = new TextDecoder("latin1").decode(bytes.subarray(at, at + 20));
    const size = parseInt(line, 16);
    at += line.indexOf("\r\n") + 2;
    if (!(size > 0)) break;
    pieces.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
  const joined = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let to = 0;
  for (const piece of pieces) {
    joined.set(piece, to);
    to += piece.length;
  }
  return joined;
}

Deno.test("A target that cuts, delays, lies and refuses costs time, and no byte.", async () => {
  const random = new Random(announceSeed());
  await using folder = await Folder.make();
  const data = folder.at("data");
  await makeStore(data);
  await using s3 = await S3Server.start({ data: folder.at("s3") });
  await new Drive(s3.server, "bucket").put("other", "x");
  const env = {
    AWS_ACCESS_KEY_ID: s3.key.access_key_id,
    AWS_SECRET_ACCESS_KEY: s3.key.secret_access_key,
    KVDRIVE_BACKUP_PASSPHRASE: "a passphrase",
  };
  const faults: Fault[] = ["refuse", "cut", "flip", "truncate", "delay", "lose"];
  const { origin: endpoint, server } = startProxy(s3.s3, () => {
    return random.below(100) < 15 ? faults[random.below(faults.length)] ?? "pass" : "pass";
  });
  const s3Options = ["--s3-endpoint", endpoint];
  const to = "s3://bucket/backups";
  try {
    const rounds = isFull() ? 10 : 1;
    for (let round = 0; round < rounds; round++) {
      assertOk(await runProgram(["backup", "--to", to, "--data", data, ...s3Options], env));
    }
    assertOk(await runProgram(["backup", "check", "--to", to, "--read-all", ...s3Options], env));
    const restored = folder.at("restored");
    assertOk(await runProgram(["restore", "--from", to, "--data", restored, ...s3Options], env));
    await assertWhole(restored);
  } finally {
    await server.shutdown();
  }
});

Deno.test("A snapshot that is pruned while it is restored is not called damaged.", async () => {
  await using folder = await Folder.make();
  const [data, repo] = [folder.at("data"), folder.at("repo")];
  {
    await using server = await TestServer.start({ data });
    await server.stop();
  }
  // The same store without a file, so that the newest snapshot needs nothing of the first.
  await using empty = await copyStock(folder);
  await makeStore(data);
  const { id } = await new StoreCommands(data).json<{ id: string }>("backup", "--to", repo);
  await new StoreCommands(empty.at("data")).text("backup", "--to", repo);
  const restore = ["restore", "--from", repo, "--snapshot", id, "--data", folder.at("restored")];
  const { code, stderr } = await runAround(
    [...restore, "--bandwidth", "4MB"],
    () => folder.has("restored/.kvdrive-restore/plan.db"),
    async () => assertOk(await runProgram(["backup", "prune", "--to", repo, "--keep-last", "1"])),
  );
  assertEquals(code, 1);
  assertMatch(stderr, /was removed from .* while it was restored/);
  assertNotMatch(stderr, /damaged/);
});
