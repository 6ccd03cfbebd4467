import { assert, assertEquals, assertGreater } from "@std/assert";
import { delay } from "@std/async/delay";
import { administer, ADMINISTERED, Project } from "../support/admin.ts";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive } from "../support/drive.ts";
import { rawRequest } from "../support/raw.ts";
import { residentBytes, TestServer } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import { DOWNLOAD, VICTIM } from "./support/peers/cases.ts";
import { Connection } from "./support/peers/connection.ts";

/** The smallest budget: 24 MiB for uploads and as much for downloads, 8 MiB for JSON and as much for caches. */
const BUDGET = ["--memory-budget", "64MiB"];

/**
 * What the runtime may take on top: 64 KiB for each read of a body until they are collected, and 256 KiB of each answer that
 * is not read. Without a budget each of these attacks takes from 450 MiB to several GiB.
 */
const RUNTIME = 400 * MIB;

/** The same for messages in JSON, of which the runtime keeps less. */
const MESSAGES = 250 * MIB;

async function start(...args: string[]): Promise<TestServer> {
  return await TestServer.start({ ...ADMINISTERED, args: [...BUDGET, ...args] });
}

/** How many bytes the server grows by, at the most, while something is done to it. */
async function growthWhile(server: TestServer, work: () => Promise<void>): Promise<number> {
  const before = await residentBytes(server.process.pid);
  let most = before;
  const look = async () => {
    most = Math.max(most, await residentBytes(server.process.pid));
  };
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      await look();
      await delay(50);
    }
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await looking;
  }
  await look();
  return most - before;
}

async function metric(server: TestServer, name: string, part: string): Promise<number> {
  const text = (await administer(server, "GET", "/metrics")).expect(200).text;
  return Number(new RegExp(`^${name}\\{part="${part}"\\} (\\d+)$`, "m").exec(text)?.[1]);
}

/** Waits until nothing of a part is in use any more. */
async function assertComesBack(server: TestServer, part: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (await metric(server, "kvdrive_memory_used_bytes", part) > 0) {
    assert(performance.now() < deadline, `Memory of ${part} did not come back`);
    await delay(100);
  }
}

/** How many names a drive lists, and on how many pages. */
async function countPages(drive: Drive): Promise<{ names: number; pages: number }> {
  let names = 0;
  for (let pages = 1, last = "";; pages++) {
    const page = await drive.list({ details: "true", last });
    names += page.names.length;
    if (page.paging === undefined) return { names, pages };
    last = page.paging.last;
  }
}

/** A project of its own, which has done nothing to anybody. */
async function neighbour(server: TestServer): Promise<Drive> {
  return (await Project.make(server)).drive("own");
}

for (const method of ["POST", "DELETE"]) {
  Deno.test(`Bodies of ${method} that come byte by byte cost no more memory than others.`, async () => {
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
    assert(growth < RUNTIME, `${growth / MIB} MiB`);
    await assertComesBack(server, "uploads");
    await assertComesBack(server, "json");
  });
}

Deno.test("400 readers that take nothing are bounded, and hold up nobody of another project.", async () => {
  await using server = await start("--idle-timeout", "2s");
  const drive = new Drive(server, "peers");
  const bytes = patternBytes(10 * MIB, 1);
  await drive.put(VICTIM, bytes);
  const other = await neighbour(server);
  await other.put("mine", bytes);
  const readers: Connection[] = [];
  const growth = await growthWhile(server, async () => {
    for (let i = 0; i < 400; i++) {
      const reader = await Connection.open(server.port);
      readers.push(reader);
      await reader.send(rawRequest("GET", DOWNLOAD));
    }
    await delay(1000);
    assertEquals((await other.get("mine")).expect(200).bytes, bytes);
    // What waits in vain is told so.
    assertErrorAnswer((await drive.get(VICTIM)).expect(503));
    assertGreater(await metric(server, "kvdrive_memory_refused_total", "downloads"), 0);
  });
  assert(growth < RUNTIME, `${growth / MIB} MiB`);
  for (const reader of readers) reader[Symbol.dispose]();
  await assertComesBack(server, "downloads");
  assertEquals((await drive.get(VICTIM)).expect(200).bytes, bytes);
});

Deno.test("Large bodies in JSON wait for memory before they are read, each project for its own.", async () => {
  await using server = await start("--idle-timeout", "2s");
  const other = await neighbour(server);
  await other.put("mine", patternBytes(10, 1));
  const size = 6_000_000;
  const senders: Connection[] = [];
  const growth = await growthWhile(server, async () => {
    await Promise.all(Array.from({ length: 60 }, async () => {
      const sender = await Connection.open(server.port);
      senders.push(sender);
      const headers = { "Content-Length": String(size) };
      await sender.send(rawRequest("DELETE", "/v1/test-project/peers/files", headers));
      // Who is not read cannot send more than what lies between.
      await Promise.race([sender.send(new Uint8Array(size - 1).fill(0x41)), delay(1000)]);
    }));
    assertEquals(await other.delete(["mine"]), { deleted: ["mine"], failed: [] });
  });
  assert(growth < MESSAGES, `${growth / MIB} MiB`);
  for (const sender of senders) sender[Symbol.dispose]();
  await assertComesBack(server, "json");
});

Deno.test("Listings that nobody reads are bounded, and hold up nobody of another project.", async () => {
  await using server = await start("--idle-timeout", "2s");
  const drive = new Drive(server, "peers");
  // In JSON such a name has six bytes for each of its own.
  const name = (i: number) => `${"\u0001".repeat(1000)}${i}`;
  const numbers = Array.from({ length: 1000 }, (_, i) => i);
  while (numbers.length > 0) {
    await Promise.all(numbers.splice(0, 50).map((i) => drive.put(name(i), patternBytes(1, i))));
  }
  const other = await neighbour(server);
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
  assert(growth < MESSAGES, `${growth / MIB} MiB`);
  for (const reader of readers) reader[Symbol.dispose]();
  await assertComesBack(server, "json");
  assertEquals(await countPages(drive), { names: 1000, pages: 3 });
});

Deno.test("Who asks and leaves at once leaves no memory in use.", async () => {
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
  for (const part of ["downloads", "json", "uploads"]) await assertComesBack(server, part);
});
