import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { Drive, uploadParts } from "../support/drive.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { PROJECT_ID, PROJECT_KEY, TestServer } from "../support/server.ts";
import { suite } from "../support/suite.ts";
import { TlsFiles } from "../support/tls.ts";
import { Folder } from "../support/command.ts";

const SOON = 28_000;
const FILES = `/v1/${PROJECT_ID}/drive/files`;
const ARCHIVE = `/v1/${PROJECT_ID}/drive/archive`;

/** Selects all files for an archive. */
const ALL = JSON.stringify({ prefixes: [""] });

/** A request as it is sent: `rest` stands behind the request line and the usual headers. */
function request(line: string, rest = "\r\n", version = "HTTP/1.1"): string {
  return `${line} ${version}\r\nHost: localhost\r\nX-Api-Key: ${PROJECT_KEY}\r\n${rest}`;
}

function upload(name: string, rest: string): string {
  return request(`POST ${FILES}?name=${name}`, rest);
}

function download(name: string, rest = "\r\n", version = "HTTP/1.1"): string {
  return request(`GET ${FILES}/download?name=${name}`, rest, version);
}

const add = suite("Requests over one connection");

/** The drive that the requests name, with the file "a". */
async function stocked({ server }: Drive): Promise<Drive> {
  const drive = new Drive(server, "drive");
  await drive.put("a", "content");
  return drive;
}

add("A pipeline of 10,000 requests is answered in order.", async (drive) => {
  using client = await RawClient.connect(drive.server.port);
  const count = 10_000;
  const sent = (async () => {
    for (let i = 0; i < count; i += 100) {
      const some = Array.from(
        { length: 100 },
        (_, j) => request("GET /nothing", `X-Request-Id: ${i + j}\r\n\r\n`),
      );
      await client.send(some.join(""));
    }
  })();
  for (let i = 0; i < count; i++) {
    const answer = await client.readAnswer();
    assertEquals([answer.status, answer.header("X-Request-Id")], [404, String(i)]);
  }
  await sent;
});

add("The next request begins where the body ends.", async (own) => {
  const drive = await stocked(own);
  using client = await RawClient.connect(drive.server.port);
  await client.send(
    upload("one", "Content-Length: 3\r\n\r\none") +
      upload("two", "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\ntwo\r\n0\r\nTrailer: z\r\n\r\n") +
      upload("three", "Content-Length: 5\r\n\r\nth"),
  );
  assertEquals((await client.readAnswer()).status, 201);
  assertEquals((await client.readAnswer()).status, 201);
  await client.send("ree" + download("one"));
  assertEquals((await client.readAnswer()).status, 201);
  assertEquals((await client.readAnswer()).body, "one");
  for (const name of ["two", "three"]) assertEquals(await drive.text(name), name);
});

add("HEAD, 204 and 304 have no body, and the next answer follows.", async (own) => {
  const drive = await stocked(own);
  using client = await RawClient.connect(drive.server.port);
  const head = download("a").replace("GET", "HEAD");
  await client.send(head + request("OPTIONS *") + download("a"));
  const first = await client.readAnswer("HEAD");
  assertEquals([first.status, first.header("Content-Length")], [200, "7"]);
  const second = await client.readAnswer();
  assertEquals([second.status, second.header("Content-Length")], [204, undefined]);
  const third = await client.readAnswer();
  assertEquals(third.body, "content");
  await client.send(download("a", `If-None-Match: ${third.header("ETag")}\r\n\r\n`));
  assertEquals((await client.readAnswer()).status, 304);
  await client.send(download("a"));
  assertEquals((await client.readAnswer()).body, "content");
});

add("GET and HEAD give the same bytes in a header beyond ASCII.", async (own) => {
  const drive = await stocked(own);
  using client = await RawClient.connect(drive.server.port);
  const type = "text/plain; x=\u00e9";
  await client.send(upload("latin", `Content-Type: ${type}\r\nContent-Length: 0\r\n\r\n`));
  assertEquals((await client.readAnswer()).status, 201);
  for (const method of ["GET", "HEAD"]) {
    await client.send(download("latin").replace("GET", method));
    assertEquals((await client.readAnswer(method)).header("Content-Type"), type);
  }
});

add("Expect: 100-continue is answered when the body is wanted.", async (own) => {
  const drive = await stocked(own);
  using client = await RawClient.connect(drive.server.port);
  const expecting = "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n";
  await client.send(upload("b", expecting));
  assertEquals((await client.readHead()).status, 100);
  await client.send("abc");
  assertEquals((await client.readAnswer()).status, 201);
  await client.send(upload("", expecting));
  const refused = await client.readAnswer();
  assertEquals([refused.status, refused.header("Connection")], [400, "close"]);
  assertEquals(await client.readToEnd(), "");
});

add(
  "Expect: 100-continue is answered where the body is empty, as some clients need it.",
  async (own) => {
    const drive = await stocked(own);
    using client = await RawClient.connect(drive.server.port);
    for (let count = 0; count < 2; count++) {
      await client.send(upload("b", "Content-Length: 0\r\nExpect: 100-continue\r\n\r\n"));
      assertEquals((await client.readHead()).status, 100);
      assertEquals((await client.readAnswer()).status, 201);
    }
  },
);

add("HTTP/1.0 and Connection: close end the connection with the answer.", async (own) => {
  const drive = await stocked(own);
  for (const [rest, version] of [["\r\n", "HTTP/1.0"], ["Connection: Close\r\n\r\n", "HTTP/1.1"]]) {
    using client = await RawClient.connect(drive.server.port);
    await client.send(download("a", rest, version));
    const answer = await client.readAnswer();
    assertEquals([answer.body, answer.header("Connection")], ["content", "close"]);
    assertEquals(await client.readToEnd(), "");
  }
});

add("A target may have the absolute form, and dots stay what they are.", async (own) => {
  const drive = await stocked(own);
  using client = await RawClient.connect(drive.server.port);
  await client.send(download("a").replace("GET /", "GET http://other.example/"));
  assertEquals((await client.readAnswer()).body, "content");
  await client.send(request(`GET ${FILES}/../files/download?name=a`));
  assertEquals((await client.readAnswer()).status, 404);
});

add("A client that ends its side still gets its answer.", async (own) => {
  const drive = await stocked(own);
  using client = await RawClient.connect(drive.server.port);
  await client.send(download("a"));
  await client.end();
  assertEquals((await client.readAnswer()).body, "content");
  assertEquals(await client.readToEnd(), "");
});

Deno.test("A refusal reaches a client that keeps sending.", async () => {
  await using server = await TestServer.start();
  using client = await RawClient.connect(server.port);
  await client.send(upload("", `Content-Length: ${8 * MIB}\r\n\r\n`));
  const piece = new Uint8Array(65_536);
  const sending = (async () => {
    for (let i = 0; i < 64; i++) await client.sendBytes(piece);
  })().catch(() => {});
  const answer = await deadline(client.readAnswer(), SOON);
  assertEquals([answer.status, answer.header("Connection")], [400, "close"]);
  assertMatch(answer.body, /^\{"errors":\[".+"\],"code":"invalid_file_name"\}$/);
  await sending;
});

Deno.test("Of bytes that two could read in two ways nothing is carried out.", async (t) => {
  await using server = await TestServer.start();
  const drive = new Drive(server, "drive");
  const inner = upload("smuggled", "Content-Length: 1\r\n\r\nx");
  const cases: [string, string][] = [
    ["two lengths", "Content-Length: 0\r\nContent-Length: 5\r\n\r\n"],
    ["a list of lengths", "Content-Length: 0, 5\r\n\r\n"],
    ["a length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    ["two codings", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n"],
    ["a coding with a blank", "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n"],
    ["a folded header", "X-A: b\r\n Content-Length: 5\r\n\r\n"],
    ["a bare LF", "X-A: b\nContent-Length: 5\r\n\r\n"],
    ["a bare CR", "X-A: b\rContent-Length: 5\r\n\r\n"],
    ["a chunk size that is none", "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n"],
    ["a chunk with a bare LF", "Transfer-Encoding: chunked\r\n\r\n0\n\n"],
    ["a malformed chunk before a valid end", "Transfer-Encoding: chunked\r\n\r\ng\r\n0\r\n\r\n"],
    ["a trailer without a colon", "Transfer-Encoding: chunked\r\n\r\n0\r\nno\r\n\r\n"],
    ["two hosts", "Host: other\r\n\r\n"],
  ];
  for (const [name, rest] of cases) {
    await t.step(name, async () => {
      using client = await RawClient.connect(server.port);
      await client.send(upload("outer", rest) + inner);
      assertEquals((await client.readAnswer()).status, 400);
      assertEquals(await client.readToEnd(), "");
    });
  }
  assertEquals(await drive.names(), []);
});

for (
  const [what, message] of [
    ["download", download("large")],
    ["archive", request(`POST ${ARCHIVE}`, `Content-Length: ${ALL.length}\r\n\r\n${ALL}`)],
  ] as const
) {
  Deno.test(`A reader of a ${what} that takes nothing loses its connection, and not only its stream.`, async () => {
    await using folder = await Folder.make();
    {
      await using server = await TestServer.start({ data: folder.path });
      const parts = [1, 2].map((seed) => patternBytes(10 * MIB, seed));
      await uploadParts(new Drive(server, "drive"), "large", parts);
    }
    // A reader may take ten times as long as a sender.
    const args = ["--idle-timeout", "500ms"];
    await using server = await TestServer.start({ args, data: folder.path });
    const others = await openSockets(server);
    using client = await RawClient.connect(server.port);
    await client.send(message);
    await client.readHead();
    assertEquals(await openSockets(server), others + 1);
    const began = Date.now();
    // What the system holds for it is sent still; the process has no descriptor for it any more.
    while (await openSockets(server) > others) {
      assert(Date.now() - began < SOON, "The connection was left open");
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert((await client.readToEnd()).length < 20 * MIB);
  });
}

/** Connections to the port of a server that the server's process has open. */
async function openSockets(server: TestServer): Promise<number> {
  const port = server.port.toString(16).toUpperCase().padStart(4, "0");
  const own = new Set<string>();
  const folder = `/proc/${server.process.pid}/fd`;
  for await (const { name } of Deno.readDir(folder)) {
    const target = await Deno.readLink(`${folder}/${name}`).catch(() => "");
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode !== undefined) own.add(inode);
  }
  const lines = (await Deno.readTextFile("/proc/net/tcp")).split("\n").map((line) =>
    line.trim().split(/\s+/)
  );
  // Established, or closed by one side.
  return lines.filter(([, local = "", , state = "", , , , , , inode = ""]) =>
    local.endsWith(`:${port}`) && state !== "0A" && own.has(inode)
  ).length;
}

Deno.test("Over TLS a large file goes both ways, and a client that is no TLS is let go.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({ args: files.args });
  using plain = await RawClient.connect(server.port);
  await plain.send(download("a"));
  await deadline(plain.readToEnd(), SOON);
  using client = files.client();
  const bytes = patternBytes(10 * MIB, 1);
  const root = `https://localhost:${server.port}${FILES}`;
  const headers = { "X-Api-Key": PROJECT_KEY };
  for (let round = 0; round < 3; round++) {
    const stored = await fetch(`${root}?name=a`, { method: "POST", body: bytes, headers, client });
    assertEquals(stored.status, 201, await stored.text());
    const read = await fetch(`${root}/download?name=a`, { headers, client });
    assertSameBytes(new Uint8Array(await read.arrayBuffer()), bytes);
  }
});

Deno.test("A server on an IPv6 address answers and prints its address.", async () => {
  await using server = await TestServer.start({ args: ["--hostname", "::1"] });
  assertEquals(new URL(server.origin).hostname, "[::1]");
  assertEquals((await server.fetch("drive", "/files")).status, 200);
});

Deno.test("A shutdown lets an answer over TLS finish.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({ args: files.args });
  using client = files.client();
  const bytes = patternBytes(10 * MIB, 1);
  const root = `https://localhost:${server.port}${FILES}`;
  const headers = { "X-Api-Key": PROJECT_KEY };
  const stored = await fetch(`${root}?name=a`, { method: "POST", body: bytes, headers, client });
  assertEquals(stored.status, 201, await stored.text());
  const read = await fetch(`${root}/download?name=a`, { headers, client });
  server.process.kill("SIGTERM");
  assertSameBytes(new Uint8Array(await read.arrayBuffer()), bytes);
  assertEquals((await deadline(server.process.status, SOON)).code, 0);
});

Deno.test("A handshake that stalls does not delay a shutdown.", async () => {
  await using files = await TlsFiles.make();
  await using server = await TestServer.start({
    args: [...files.args, "--shutdown-timeout", "60s"],
  });
  using client = files.client();
  using silent = await RawClient.connect(server.port);
  using stalled = await RawClient.connect(server.port);
  // The beginning of a ClientHello.
  await stalled.send("\x16\x03\x01\x02\x00\x01");
  const answer = await fetch(`https://localhost:${server.port}/healthz`, { client });
  assertEquals(await answer.json(), { status: "ok" });
  server.process.kill("SIGTERM");
  assertEquals((await deadline(server.process.status, SOON)).code, 0);
  await Promise.all([silent, stalled].map((one) => deadline(one.readToEnd(), SOON)));
});
