import {
  assert,
  assertEquals,
  assertGreaterOrEqual,
  assertMatch,
  assertNotMatch,
} from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, waitForRunning } from "../support/admin.ts";
import type { Answer } from "../support/answer.ts";
import { assertSameBytes, MIB, patternBytes, streamOf } from "../support/bytes.ts";
import { Folder } from "../support/command.ts";
import { Drive, joinBytes, Upload, uploadParts } from "../support/drive.ts";
import { checkRawAnswer } from "../support/openapi/watch.ts";
import { rawRequest } from "../support/raw.ts";
import { TestServer } from "../support/server.ts";
import { assertErrorAnswer } from "../support/suite.ts";
import {
  BAD_CHUNKS,
  BAD_HEADS,
  BAD_LENGTHS,
  BAD_METHODS,
  DOWNLOAD,
  type PeerCase,
  VICTIM,
} from "./support/peers/cases.ts";
import {
  assertAllStored,
  beginDownload,
  beginUpload,
  Connection,
  residentBytes,
  trickle,
  uploadWithRetries,
} from "./support/peers/connection.ts";

const EARLIER = patternBytes(100_000, 7);

const GROUPS: [string, readonly PeerCase[]][] = [
  ["Malformed and too long heads", BAD_HEADS],
  ["Unknown methods", BAD_METHODS],
  ["Wrong lengths", BAD_LENGTHS],
  ["Malformed chunks", BAD_CHUNKS],
];

for (const [about, cases] of GROUPS) {
  Deno.test(`${about} are rejected and change nothing.`, async (t) => {
    await using server = await TestServer.start({ args: ["--idle-timeout", "3s"] });
    const drive = new Drive(server, "peers");
    await drive.put(VICTIM, EARLIER);
    const before = await drive.state();
    for (const one of cases) {
      await t.step(
        `${one.what}: ${one.right.map((status) => status || "the end").join(" or ")}`,
        () => assertRejected(server, one),
      );
    }
    await t.step("The file, the uploads and the counts are unchanged.", async () => {
      assertEquals(await drive.state(), before);
      assertEquals((await drive.get(VICTIM)).expect(200).bytes, EARLIER);
      assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
      assertNotMatch(server.text, /\berror\b/i);
    });
  });
}

async function assertRejected(server: TestServer, one: PeerCase): Promise<void> {
  using connection = await Connection.open(server.port);
  await connection.send(one.send);
  if (one.ends) await connection.sendEnd();
  const answer = await connection.answer();
  const status = answer?.status ?? 0;
  assert(one.right.includes(status), `Status ${status}: ${answer?.text.slice(0, 300)}`);
  if (answer?.headers.has("X-Request-Id")) assertErrorAnswer(answer);
  if (answer !== undefined) await checkRawAnswer(server.port, one.send, answer);
  await assertAvailable(server);
}

/** Asserts that the server still serves other clients. */
async function assertAvailable(server: TestServer): Promise<void> {
  using connection = await Connection.open(server.port);
  await connection.send(rawRequest("GET", DOWNLOAD, { Range: "bytes=0-9" }));
  const answer = await connection.answer();
  assertEquals(answer?.status, 206);
  assertEquals(answer?.bytes, EARLIER.slice(0, 10));
}

Deno.test("Bytes after the announced length are not part of the file.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "peers");
  await drive.put(VICTIM, EARLIER);
  using connection = await Connection.open(server.port);
  const headers = { "Content-Length": "5", "Connection": "keep-alive" };
  const path = DOWNLOAD.replace("/download", "").replace(VICTIM, "other");
  await connection.send(
    rawRequest("POST", path, headers, "12345and more than was announced\r\n\r\n"),
  );
  assertEquals((await connection.answer())?.status, 201);
  const status = (await connection.answer())?.status ?? 0;
  assert([400, 0].includes(status), `Status ${status} for a malformed request`);
  assertEquals(await drive.text("other"), "12345");
  await assertAvailable(server);
});

Deno.test("A request with both length and chunks is parsed in one way or rejected.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "peers");
  const path = DOWNLOAD.replace("/download", "");
  // Parsed as chunks the body is "x", by length all 11 bytes. Any other parse would allow request smuggling.
  const headers = { "Content-Length": "11", "Transfer-Encoding": "chunked" };
  using connection = await Connection.open(server.port);
  await connection.send(rawRequest("POST", path, headers, "1\r\nx\r\n0\r\n\r\n"));
  const status = (await connection.answer())?.status ?? 0;
  assert([400, 201, 0].includes(status), `Status ${status}`);
  if (status === 201) assertEquals(await drive.text(VICTIM), "x");
  else assertEquals((await drive.get(VICTIM)).status, 404);
});

Deno.test("A chunked body of exactly the limit is stored.", async () => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "peers");
  const largest = patternBytes(10 * 2 ** 20, 3);
  const answer = await drive.send("POST", `/files?name=${VICTIM}`, { body: streamOf(largest) });
  answer.expect(201);
  assertEquals((await drive.usage())?.bytes, largest.length);
});

Deno.test("A stalled body gets 408 after the idle timeout.", async () => {
  await using server = await TestServer.start({ args: ["--idle-timeout", "1s"] });
  const drive = new Drive(server, "peers");
  await drive.put(VICTIM, EARLIER);
  const upload = await Upload.start(drive, "parts");
  const bodies = ["", "x".repeat(500), "x".repeat(300_000)];
  const root = DOWNLOAD.slice(0, DOWNLOAD.indexOf("/files"));
  const targets = [`/files?name=${VICTIM}`, `${upload.path}/parts?name=parts&part=1`];
  await drive.unchangedBy(() =>
    Promise.all(targets.flatMap((target) =>
      bodies.map(async (body) => {
        const began = performance.now();
        using connection = await beginUpload(server.port, root + target, 1_000_000, body);
        const answer = await connection.answer();
        assertEquals(answer?.status, 408, `After ${body.length} bytes to ${target}`);
        assertErrorAnswer(answer as Answer);
        assertGreaterOrEqual(performance.now() - began, 900);
      })
    ))
  );
  assertEquals(await upload.parts(), []);
  await assertAvailable(server);
});

Deno.test("A stalled list of names to delete gets 408.", async () => {
  await using server = await TestServer.start({ args: ["--idle-timeout", "1s"] });
  const drive = new Drive(server, "peers");
  await drive.put(VICTIM, EARLIER);
  using connection = await Connection.open(server.port);
  const target = DOWNLOAD.slice(0, DOWNLOAD.indexOf("/download"));
  const body = `{"names":["${VICTIM}"]`;
  await connection.send(rawRequest("DELETE", target, { "Content-Length": "100" }, body));
  assertEquals((await connection.answer())?.status, 408);
  await assertAvailable(server);
});

Deno.test("A slow but steady sender is served and does not block others.", async () => {
  await using server = await TestServer.start({ args: ["--idle-timeout", "4s"] });
  const drive = new Drive(server, "peers");
  await drive.put(VICTIM, EARLIER);
  using body = await beginUpload(server.port, `${DOWNLOAD.replace("/download", "")}-2`, 10);
  using head = await Connection.open(server.port);
  const request = rawRequest("GET", DOWNLOAD, { Range: "bytes=0-9" });
  const slow = Promise.all([
    trickle(body, "0123456789", 800),
    trickle(head, request.slice(0, 10), 800).then(() => head.send(request.slice(10))),
  ]);
  for (let times = 0; times < 10; times++) {
    await assertAvailable(server);
    await delay(100);
  }
  await slow;
  assertEquals((await body.answer())?.status, 201);
  assertEquals((await head.answer())?.status, 206);
  assertEquals(await drive.text(`${VICTIM}-2`), "0123456789");
});

const FULL = Deno.env.get("KVDRIVE_FAULTS") === "full";
/** Buffering the whole file for 20 of them would take 500 MiB. */
const READERS = FULL ? 60 : 20;
/** A slow disk is read in a thread, which takes some memory of its own. */
const READ_THREAD = 64 * MIB;
const MAX_GROWTH = READERS * 8 * MIB + READ_THREAD;

Deno.test(`${READERS} stalled readers use little memory and are disconnected.`, async () => {
  await using folder = await Folder.make();
  {
    await using server = await TestServer.start({ data: folder.path });
    const parts = [patternBytes(10 * MIB, 1), patternBytes(10 * MIB, 2), patternBytes(5 * MIB, 3)];
    await uploadParts(new Drive(server, "peers"), VICTIM, parts);
  }
  // A reader may stall ten times as long as a sender.
  const args = ["--idle-timeout", "400ms"];
  await using server = await TestServer.start({ args, data: folder.path });
  const drive = new Drive(server, "peers");
  const size = 25 * MIB;
  const before = await residentBytes(server.process.pid);
  using stalled = new DisposableStack();
  const readers = await Promise.all(Array.from({ length: READERS }, async () => {
    return stalled.use(await beginDownload(server.port, DOWNLOAD));
  }));
  await delay(1500);
  const after = await residentBytes(server.process.pid);
  const growth = (after ?? 0) - (before ?? 0);
  assert(growth < MAX_GROWTH, `${growth / MIB} MiB for ${READERS} readers`);
  await delay(10_000);
  for (const reader of readers) {
    const { length } = await reader.readToEnd();
    assert(length < size, `${length} bytes arrived, so it was not disconnected`);
  }
  assertEquals((await drive.get(VICTIM)).expect(200).bytes.length, size);
  assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
});

Deno.test("A slow but steady reader receives the whole file.", async () => {
  await using server = await TestServer.start({ args: ["--idle-timeout", "2s"] });
  const drive = new Drive(server, "peers");
  const bytes = patternBytes(10 * MIB, 1);
  await drive.put(VICTIM, bytes);
  using reader = await beginDownload(server.port, DOWNLOAD);
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const began = performance.now();
  for (let piece = await reader.read(); piece !== null; piece = await reader.read()) {
    pieces.push(piece);
    await delay(20);
  }
  assertGreaterOrEqual(performance.now() - began, 2500);
  const rest = joinBytes(pieces);
  assertSameBytes(rest, bytes.slice(bytes.length - rest.length));
});

Deno.test("An upload beyond --max-uploads waits and gets 503 if no slot becomes free.", async () => {
  const args = ["--idle-timeout", "4s", "--max-uploads", "2"];
  await using server = await TestServer.start({ ...ADMINISTERED, args });
  const drive = new Drive(server, "peers");
  await drive.put(VICTIM, EARLIER);
  const target = DOWNLOAD.replace("/download", "");
  const rest = "123456789".repeat(6);
  using first = await beginUpload(server.port, `${target}-1`, 1 + rest.length, "0");
  using second = await beginUpload(server.port, `${target}-2`, 1 + rest.length, "0");
  const over = Promise.withResolvers<void>();
  const going = Promise.all([first, second].map((one) => trickle(one, rest, 1000, over.promise)));
  await waitForRunning(server, "upload", 2);
  const began = performance.now();
  const refused = await drive.send("POST", "/files?name=third", { body: "3" });
  assertErrorAnswer(refused.expect(503));
  assertGreaterOrEqual(performance.now() - began, 3900);
  assertMatch(refused.header("Retry-After"), /^[1-9]\d*$/);
  await assertAvailable(server);
  over.resolve();
  await going;
  // Both uploads are complete, or about to be: slots are free now.
  await drive.put("fourth", "4");
  assertEquals((await first.answer())?.status, 201);
  assertEquals((await second.answer())?.status, 201);
  const names = ["fourth", VICTIM, `${VICTIM}-1`, `${VICTIM}-2`];
  assertEquals(await drive.names(), names);
});

Deno.test("Concurrent uploads beyond --max-uploads are all stored in the end.", async () => {
  const args = ["--idle-timeout", "4s", "--max-uploads", "2"];
  await using server = await TestServer.start({ args });
  const drive = new Drive(server, "peers");
  const target = DOWNLOAD.replace("/download", "");
  using silent = await beginUpload(server.port, target, 1000, "0");
  const count = FULL ? 200 : 50;
  const uploads = Array.from({ length: count }, (_, index) => uploadWithRetries(drive, index));
  await Promise.all(uploads);
  assertEquals((await silent.answer())?.status, 408);
  await assertAllStored(drive, count);
  assertNotMatch(server.text, /^\s+at .*:\d+:\d+/m);
});
