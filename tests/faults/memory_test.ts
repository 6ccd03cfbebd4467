import { assert, assertEquals } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, Project } from "../support/admin.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { rawRequest } from "../support/raw.ts";
import { S3Server } from "../support/s3/s3_server.ts";
import { residentBytes, TestServer } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import { DOWNLOAD, VICTIM } from "./support/peers/cases.ts";
import { Connection } from "./support/peers/connection.ts";
import { S3Client } from "./support/s3_client.ts";

/** The smallest budget: 24 MiB for uploads, 20 for downloads, 12 for caches and 8 for JSON. */
const BUDGET = ["--memory-budget", "64MiB"];

/**
 * Growth that the runtime may add: 64 KiB per read of a body until garbage collection, and 256 KiB per unread response.
 * Without a budget each of these attacks takes 450 MiB to several GiB.
 */
const MAX_GROWTH = 400 * MIB;

/** The same for lists, whose records are garbage soon. Without a budget it would be 1.2 GiB. */
const MAX_LIST_GROWTH = 600 * MIB;

/** The same for JSON bodies, of which the runtime buffers less. Without a budget it would be more than 1 GB. */
const MAX_JSON_GROWTH = 250 * MIB;

async function start(...args: string[]): Promise<TestServer> {
  return await TestServer.start({ ...ADMINISTERED, args: [...BUDGET, ...args] });
}

/** Returns the largest growth of the server during some work, in bytes. */
async function growthWhile(server: TestServer, work: () => Promise<void>): Promise<number> {
  const before = await residentBytes(server.process.pid);
  let max = before;
  const measure = async () => {
    max = Math.max(max, await residentBytes(server.process.pid));
  };
  let isOver = false;
  const measuring = (async () => {
    while (!isOver) {
      await measure();
      await delay(50);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await measuring;
  }
  await measure();
  return max - before;
}

async function metric(server: TestServer, name: string, part: string): Promise<number> {
  const text = (await administer(server, "GET", "/metrics")).expect(200).text;
  return Number(new RegExp(`^${name}\\{part="${part}"\\} (\\d+)$`, "m").exec(text)?.[1]);
}

/** Waits until a part of the budget is unused. */
async function assertReleased(server: TestServer, part: string): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (await metric(server, "kvdrive_memory_used_bytes", part) > 0) {
    assert(performance.now() < deadline, `Memory of ${part} was not released`);
    await delay(100);
  }
}

/** Returns the number of names that a drive lists, and of the pages. */
async function countPages(drive: Drive): Promise<{ names: number; pages: number }> {
  let names = 0;
  for (let pages = 1, last = "";; pages++) {
    const page = await drive.list({ details: "true", last });
    names += page.names.length;
    if (page.paging === undefined) return { names, pages };
    last = page.paging.last;
  }
}

/** Returns a drive of another project. */
async function otherProjectDrive(server: TestServer): Promise<Drive> {
  return (await Project.make(server)).drive("own");
}

for (const method of ["POST", "DELETE"]) {
  Deno.test(`${method} bodies in one-byte chunks stay within the memory budget.`, async () => {
    await using server = await start();
    const target = `/v1/test-project/peers/files${method === "POST" ? "?name=drip" : ""}`;
    const growth = await growthWhile(server, async () => {
      await Promise.all(Array.from({ length: 4 }, async () => {
        using connection = await Connection.open(server.port);
        const headers = { "Transfer-Encoding": "chunked" };
        await connection.send(rawRequest(method, target, headers));
        for (let i = 0; i < 600; i++) {
          await connection.send("1\r\nx\r\n".repeat(100));
          await delay(2);
        }
      }));
    });
    assert(growth < MAX_GROWTH, `${growth / MIB} MiB`);
    await assertReleased(server, "uploads");
    await assertReleased(server, "json");
  });
}

Deno.test("400 stalled readers stay within the memory budget and do not block other projects.", async () => {
  // Readers may stall for ten times as long, which is longer than it takes to open them all.
  await using server = await start("--idle-timeout", "5s");
  const drive = new Drive(server, "peers");
  const bytes = patternBytes(10 * MIB, 1);
  await drive.put(VICTIM, bytes);
  const other = await otherProjectDrive(server);
  await other.put("mine", bytes);
  const readers: Connection[] = [];
  const growth = await growthWhile(server, async () => {
    for (let i = 0; i < 400; i++) {
      const reader = await Connection.open(server.port);
      readers.push(reader);
      await reader.send(rawRequest("GET", DOWNLOAD));
    }
    const refused = () => metric(server, "kvdrive_memory_refused_total", "downloads");
    for (const end = performance.now() + 60_000; await refused() === 0;) {
      assert(performance.now() < end, "All readers have memory");
      await delay(50);
    }
    assertEquals((await other.get("mine")).expect(200).bytes, bytes);
    // A download without memory is rejected.
    assertErrorAnswer((await drive.get(VICTIM)).expect(503));
  });
  assert(growth < MAX_GROWTH, `${growth / MIB} MiB`);
  for (const reader of readers) reader[Symbol.dispose]();
  await assertReleased(server, "downloads");
  assertEquals((await drive.get(VICTIM)).expect(200).bytes, bytes);
});

Deno.test("Large JSON bodies stay within the memory budget and do not block other projects.", async () => {
  await using server = await start("--idle-timeout", "2s");
  const other = await otherProjectDrive(server);
  await other.put("mine", patternBytes(10, 1));
  const size = 6_000_000;
  const senders: Connection[] = [];
  const growth = await growthWhile(server, async () => {
    await Promise.all(Array.from({ length: 60 }, async () => {
      const sender = await Connection.open(server.port);
      senders.push(sender);
      const headers = { "Content-Length": String(size) };
      await sender.send(rawRequest("DELETE", "/v1/test-project/peers/files", headers));
      // While the server does not read, the client can only fill the socket buffers.
      await Promise.race([sender.send(new Uint8Array(size - 1).fill(0x41)), delay(1000)]);
    }));
    assertEquals(await other.delete(["mine"]), { deleted: ["mine"], failed: [] });
  });
  assert(growth < MAX_JSON_GROWTH, `${growth / MIB} MiB`);
  for (const sender of senders) sender[Symbol.dispose]();
  await assertReleased(server, "json");
});

Deno.test("Unread listings stay within the memory budget and do not block other projects.", async () => {
  await using server = await start("--idle-timeout", "2s");
  const drive = new Drive(server, "peers");
  // In JSON each byte of such a name is escaped as six bytes.
  const name = (i: number) => `${"\u0001".repeat(1000)}${i}`;
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  while (numbers.length > 0) {
    await Promise.all(numbers.splice(0, 50).map((i) => drive.put(name(i), patternBytes(1, i))));
  }
  const other = await otherProjectDrive(server);
  await other.put("mine", patternBytes(10, 1));
  const readers: Connection[] = [];
  const growth = await growthWhile(server, async () => {
    for (let i = 0; i < 100; i++) {
      const reader = await Connection.open(server.port);
      readers.push(reader);
      await reader.send(rawRequest("GET", "/v1/test-project/peers/files?details=true"));
    }
    await delay(1000);
    assertEquals((await other.list()).names, ["mine"]);
  });
  assert(growth < MAX_JSON_GROWTH, `${growth / MIB} MiB`);
  for (const reader of readers) reader[Symbol.dispose]();
  await assertReleased(server, "json");
  assertEquals(await countPages(drive), { names: 1000, pages: 3 });
});

Deno.test("Clients that disconnect at once leave no memory in use.", async () => {
  await using server = await start("--idle-timeout", "60s");
  const drive = new Drive(server, "peers");
  await drive.put(VICTIM, patternBytes(2 * MIB, 1));
  const name = (i: number) => `${"n".repeat(1000)}${i}`;
  await Promise.all(Array.from({ length: 100 }, (_, i) => drive.put(name(i), patternBytes(1, i))));
  const targets = [DOWNLOAD, "/v1/test-project/peers/files?details=true"];
  await Promise.all(Array.from({ length: 200 }, async (_, i) => {
    const target = targets[i % targets.length] ?? DOWNLOAD;
    using connection = await Connection.open(server.port);
    await connection.send(rawRequest("GET", target));
    if (i % 3 === 0) await delay(i % 20);
  }));
  for (const part of ["downloads", "json", "uploads"]) await assertReleased(server, part);
});

Deno.test("Lists of files with metadata stay within the memory budget, however many there are.", async () => {
  await using s3 = await S3Server.start({ args: BUDGET });
  const { server } = s3;
  const bucket = new S3Client(s3.s3, s3.key, "objects");
  await bucket.ask("PUT", "");
  const headers = { "x-amz-meta-note": "m".repeat(2000), "cache-control": "c".repeat(4000) };
  await bucket.ask("PUT", "object", { headers, body: patternBytes(1, 1) });
  const drive = new Drive(server, "objects");
  const items = Array.from({ length: 999 }, (_, i) => ({ from: "object", to: `object-${i}` }));
  const copied = await drive.send("POST", "/files/copy", { body: JSON.stringify({ items }) });
  assertEquals((copied.expect(200).json as { failed: unknown }).failed, []);
  const lists: (() => Promise<unknown>)[] = [
    () => drive.list(),
    () => drive.list({ details: "true" }),
    () => bucket.ask("GET", "", { query: "list-type=2" }),
  ];
  const growth = await growthWhile(server, async () => {
    for (const list of lists) await Promise.all(Array.from({ length: 200 }, list));
  });
  assert(growth < MAX_LIST_GROWTH, `${growth / MIB} MiB`);
  await assertReleased(server, "json");
});

Deno.test("Bodies of millions of unknown fields stay within the memory budget, and stall no one.", async () => {
  await using server = await start();
  const body = `{${Array.from({ length: 1_000_000 }, (_, i) => `"x${i}":{}`).join(",")}}`;
  const slice = body.slice(0, 12_000_000);
  let slowest = 0;
  let isOver = false;
  const watching = (async () => {
    while (!isOver) {
      const began = performance.now();
      (await administer(server, "GET", "/healthz")).expect(200);
      slowest = Math.max(slowest, performance.now() - began);
      await delay(20);
    }
  })();
  const growth = await growthWhile(server, async () => {
    const drive = new Drive(server, "peers");
    const calls = [["POST", "/archive"], ["POST", "/files/copy"], ["POST", "/files/move"]] as const;
    for (const [method, path] of [...calls, ...calls, ...calls]) {
      assertErrorAnswer((await drive.send(method, path, { body: slice })).expect(400));
    }
  });
  isOver = true;
  await watching;
  assert(growth < MAX_JSON_GROWTH, `${growth / MIB} MiB`);
  assert(slowest < 1_000, `Another request took ${slowest} ms`);
  await assertReleased(server, "json");
});
