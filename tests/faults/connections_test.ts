import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { delay } from "@std/async/delay";
import { MIB, patternBytes } from "../support/bytes.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { Gate } from "../support/gate/gate.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { answerEach, RawUpstream } from "../support/gate/upstream_raw.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { TlsFiles } from "../support/tls.ts";
import { waitFor } from "../support/log.ts";

/** "answers a new client within 10 s" */
const LIMIT = 60_000;
const DESCRIPTORS = 256;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const LIST =
  `GET /v1/${PROJECT_ID}/drive/files HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${PROJECT_KEY}\r\n\r\n`;
/** Sent over a new connection, as an idle one may be closed at any time to make room for others. */
const UPLOAD =
  `POST /v1/${PROJECT_ID}/drive/files?name=b HTTP/1.1\r\nHost: localhost\r\nX-Api-Key: ${PROJECT_KEY}\r\n` +
  "Content-Length: 7\r\n\r\ncontent";
const DOWNLOAD = LIST.replace("/files", "/files/download?name=large");

/** Connects `count` clients that send nothing. */
async function crowd(port: number, count: number): Promise<Disposable> {
  const clients: RawClient[] = [];
  for (let i = 0; i < count; i++) {
    clients.push(await deadline(RawClient.connect(port), LIMIT));
  }
  return { [Symbol.dispose]: () => clients.forEach((one) => one[Symbol.dispose]()) };
}

/**
 * Asserts that a new client gets a response in time. The server may close its connection to make room for others before
 * it reads the request: then the client connects again, as HTTP clients do.
 */
async function assertAnswered(port: number, request: string, status = 200): Promise<void> {
  const end = performance.now() + LIMIT;
  for (;;) {
    const answer = await deadline(ask(port, request), LIMIT);
    if (answer !== undefined) return assertEquals(answer, status);
    assert(performance.now() < end, "A new client was not answered in time");
    await delay(50);
  }
}

/** Returns the status of the response, or `undefined` if the connection is closed without one. */
async function ask(port: number, request: string): Promise<number | undefined> {
  using client = await RawClient.connect(port);
  try {
    await client.send(request);
    return (await client.readAnswer()).status;
  } catch (error) {
    const { BrokenPipe, ConnectionReset } = Deno.errors;
    const isReset = error instanceof ConnectionReset || error instanceof BrokenPipe;
    const isEnd = error instanceof Error && /ended too early, behind ""/.test(error.message);
    if (isReset || isEnd) return undefined;
    throw error;
  }
}

Deno.test("Idle connections make room for new clients when descriptors are scarce.", async () => {
  await using server = await TestServer.start({ descriptors: DESCRIPTORS });
  const drive = new Drive(server, "drive");
  await drive.put("a", "content");
  const warning = /Warning: only \d+ more files and connections .*ulimit -n/;
  await waitFor("a warning", () => warning.test(server.text) || undefined);
  for (let round = 0; round < 3; round++) {
    using _ = await crowd(server.port, 2 * DESCRIPTORS);
    await assertAnswered(server.port, LIST);
    await uploadParts(drive, "large", [patternBytes(6 * MIB, round), patternBytes(10, round)]);
    (await drive.get("large")).expect(200);
  }
  await assertAnswered(server.port, LIST);
  assertNotMatch(server.text, /\berror\b/i);
});

Deno.test("Stalled handshakes make room for new clients when descriptors are scarce.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({ descriptors: DESCRIPTORS, args: files.args });
  const root = `https://localhost:${server.port}`;
  const headers = { "X-Api-Key": PROJECT_KEY };
  const ask = async (path: string, init: RequestInit = {}) => {
    using client = files.client();
    const answer = await deadline(fetch(root + path, { ...init, headers, client }), LIMIT);
    await answer.body?.cancel();
    return answer.status;
  };
  for (let round = 0; round < 3; round++) {
    using _ = await crowd(server.port, 2 * DESCRIPTORS);
    assertEquals(await ask("/healthz"), 200);
    const upload = { method: "POST", body: "content" };
    assertEquals(await ask(`/v1/${PROJECT_ID}/drive/files?name=a`, upload), 201);
  }
  assertNotMatch(server.text, /no file descriptors/);
});

Deno.test("A server that runs out of descriptors logs a warning and recovers.", async () => {
  await using upstream = new RawUpstream(answerEach(OK));
  await using gate = await Gate.start();
  await gate.open(upstream.origin);
  const { server } = gate;
  const drive = new Drive(server, "drive");
  await drive.put("a", "content");
  const pid = String(server.process.pid);
  const limit = await new Deno.Command("prlimit", {
    args: ["--pid", pid, `--nofile=${DESCRIPTORS}`],
  }).output();
  assert(limit.success);
  const ask = `GET ${gate.prefix()}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`;
  for (const port of [server.port, gate.port]) {
    using _ = await crowd(port, 2 * DESCRIPTORS);
    await assertAnswered(server.port, LIST);
    await assertAnswered(gate.port, ask);
    await assertAnswered(server.port, UPLOAD, 201);
  }
  await assertAnswered(server.port, LIST);
  await assertAnswered(gate.port, ask);
  const warning = /warning: no file descriptors are left/;
  await waitFor("a warning", () => warning.test(server.text) || undefined);
  assertNotMatch(server.text, /Uncaught|^\s+at /m);
});

Deno.test("Stalled readers make room when they hold all connections.", async () => {
  await using server = await TestServer.start({
    descriptors: DESCRIPTORS,
    args: ["--idle-timeout", "2s"],
  });
  const drive = new Drive(server, "drive");
  await uploadParts(drive, "large", [1, 2].map((seed) => patternBytes(10 * MIB, seed)));
  const stalled: RawClient[] = [];
  try {
    for (let i = 0; i < DESCRIPTORS; i++) {
      const client = await RawClient.connect(server.port);
      stalled.push(client);
      await client.send(DOWNLOAD);
    }
    await delay(3000);
    await assertAnsweredInTime(server.port);
  } finally {
    stalled.forEach((one) => one[Symbol.dispose]());
  }
  await assertAnswered(server.port, LIST);
});

/** Asserts that one of repeated requests is answered in time. */
async function assertAnsweredInTime(port: number): Promise<void> {
  const end = performance.now() + LIMIT;
  for (;;) {
    using client = await RawClient.connect(port);
    const status = await client.send(LIST).then(() => client.readAnswer()).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    assert(performance.now() < end, `The last status was ${status}`);
    await delay(200);
  }
}
