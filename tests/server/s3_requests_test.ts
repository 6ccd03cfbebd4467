import { assert, assertEquals, assertMatch } from "@std/assert";
import { deadline } from "@std/async/deadline";
import { administer } from "../support/admin.ts";
import { MIB, utf8 } from "../support/bytes.ts";
import { assertFiles, Drive } from "../support/drive.ts";
import { Folder } from "../support/command.ts";
import { RawClient } from "../support/gate/raw_client.ts";
import { lineOf, linesOf, waitFor } from "../support/log.ts";
import { newAddress, TestServer } from "../support/server.ts";
import { S3_DOMAIN, S3Server } from "../support/s3/s3_server.ts";
import {
  presignedTarget,
  type S3Request,
  signedHead,
  signedRequest,
} from "../support/s3/signed.ts";
import { SOON, turnsAway } from "../support/shutdown.ts";

const BUCKET = "bucket";

function put(
  path: string,
  body: string,
  more: Partial<S3Request> = {},
): S3Request & { body: string } {
  return { method: "PUT", path, body, ...more };
}

/** A server with a bucket. */
async function stocked(args: string[] = []): Promise<S3Server> {
  const s3 = await S3Server.start({ args });
  using client = await s3.connect();
  await client.send(signedRequest(s3.key, put(`/${BUCKET}`, "")));
  assertEquals((await client.readAnswer()).status, 200);
  return s3;
}

function drive({ server }: S3Server): Drive {
  return new Drive(server, BUCKET);
}

Deno.test("Names arrive as they were sent, in the path and under a host name of their bucket.", async () => {
  await using s3 = await stocked(["--s3-domain", S3_DOMAIN]);
  const names: [path: string, name: string][] = [
    ["/a/../b", "a/../b"],
    ["/./c", "./c"],
    ["//d//e", "/d//e"],
    ["/f%2Fg", "f/g"],
    ["/%2e%2E/h", "../h"],
    ["/i%20j+k", "i j+k"],
    ["/%F0%9F%98%80", "\u{1f600}"],
  ];
  const ports = [[s3.port, "localhost", `/${BUCKET}`], [s3.server.port, S3_DOMAIN, `/${BUCKET}`], [
    s3.server.port,
    `${BUCKET}.${S3_DOMAIN}`,
    "",
  ]] as const;
  for (const [port, host, prefix] of ports) {
    using client = await RawClient.connect(port);
    for (const [path] of names) {
      const stored = put(prefix + path, `${host} ${path}`, { host });
      await client.send(signedRequest(s3.key, stored));
      const answer = await client.readAnswer();
      assertEquals(answer.status, 200, `${path} ${answer.body}`);
      await client.send(signedRequest(s3.key, { method: "GET", path: prefix + path, host }));
      assertEquals((await client.readAnswer()).body, `${host} ${path}`);
    }
    const expected = names.map(([path, name]) => [name, utf8(`${host} ${path}`)]);
    await assertFiles(drive(s3), Object.fromEntries(expected));
    await drive(s3).send("DELETE", "/files", {
      body: JSON.stringify({ names: names.map(([, name]) => name) }),
    });
  }
});

Deno.test("Requests of S3 follow each other on one connection, with HEAD and 100 Continue.", async () => {
  await using s3 = await stocked();
  using client = await s3.connect();
  const head = signedHead(s3.key, {
    ...put(`/${BUCKET}/a`, "content"),
    headers: { "Content-Length": "7", Expect: "100-continue" },
  });
  await client.send(head);
  assertEquals((await client.readHead()).status, 100);
  await client.send("content");
  assertEquals((await client.readAnswer()).status, 200);
  await client.send(signedRequest(s3.key, { method: "HEAD", path: `/${BUCKET}/a` }));
  const found = await client.readAnswer("HEAD");
  assertEquals([found.status, found.header("Content-Length")], [200, "7"]);
  await client.send(signedRequest(s3.key, { method: "HEAD", path: `/${BUCKET}/none` }));
  assertEquals((await client.readAnswer("HEAD")).status, 404);
  await client.send(signedRequest(s3.key, { method: "GET", path: `/${BUCKET}/a` }));
  assertEquals((await client.readAnswer()).body, "content");
  // A refused request does not ask for its body.
  const other = { ...s3.key, secret_access_key: "x".repeat(40) };
  const headers = {
    "Content-Length": "7",
    Expect: "100-continue",
    "X-Forwarded-For": newAddress(),
  };
  await client.send(signedHead(other, { ...put(`/${BUCKET}/a`, "changed"), headers }));
  const refused = await client.readAnswer();
  assertEquals([refused.status, refused.header("Connection")], [403, "close"]);
  assertEquals(await client.readToEnd(), "");
  await assertFiles(drive(s3), { a: utf8("content") });
});

Deno.test("Nothing is stored of a body whose sender stalls or disconnects.", async () => {
  await using s3 = await stocked(["--idle-timeout", "2s"]);
  const head = signedHead(s3.key, {
    ...put(`/${BUCKET}/a`, "content"),
    headers: { "Content-Length": "7" },
  });
  using slow = await s3.connect();
  await slow.send(`${head}con`);
  const answer = await deadline(slow.readAnswer(), SOON);
  assertEquals([answer.status, answer.header("Connection")], [400, "close"]);
  assertMatch(answer.body, /<Code>RequestTimeout<\/Code>/);
  using leaving = await s3.connect();
  await leaving.send(`${head}con`);
  await leaving.end();
  await leaving.readToEnd();
  await assertFiles(drive(s3), {});
});

Deno.test("Malformed HTTP requests get errors of S3.", async () => {
  await using s3 = await S3Server.start();
  for (
    const [text, status] of [
      ["GET / HTTP/1.1\r\n\r\n", 400],
      ["GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400],
      ["GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
      [`GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(70_000)}\r\n\r\n`, 400],
    ] as const
  ) {
    using client = await s3.connect();
    await client.send(text);
    const answer = await client.readAnswer();
    assertEquals([answer.status, answer.header("Content-Type")], [status, "application/xml"]);
    assertMatch(answer.body, /<Error><Code>\w+<\/Code><Message>.+<\/Message>/);
  }
});

Deno.test("A running upload completes during the shutdown, and no other begins.", async () => {
  await using folder = await Folder.make();
  const body = "x".repeat(3 * MIB);
  {
    await using s3 = await S3Server.start({ data: folder.path });
    using client = await s3.connect();
    using other = await s3.connect();
    await client.send(signedRequest(s3.key, put(`/${BUCKET}`, "")));
    assertEquals((await client.readAnswer()).status, 200);
    const headers = { "Content-Length": String(body.length) };
    await client.send(signedHead(s3.key, { ...put(`/${BUCKET}/a`, body), headers }));
    await client.send(body.slice(0, MIB));
    // A busy connection is not closed: its next request is refused.
    await other.send(`PUT /${BUCKET}/b HTTP/1.1\r\nHost: localhost\r\n`);
    await drive(s3).names();
    s3.server.process.kill("SIGTERM");
    await turnsAway(s3.server);
    await other.readToEnd();
    using late = await s3.connect().catch(() => undefined);
    if (late !== undefined) {
      await late.send(signedRequest(s3.key, put(`/${BUCKET}/b`, "late")));
      const refused = await late.readAnswer();
      assertEquals([refused.status, refused.header("Connection")], [503, "close"]);
      assertMatch(refused.body, /<Code>\w+<\/Code>/);
    }
    await client.send(body.slice(MIB));
    const answer = await client.readAnswer();
    assertEquals([answer.status, answer.header("Connection")], [200, "close"]);
    assertEquals((await deadline(s3.server.process.status, SOON)).code, 0);
  }
  await using server = await TestServer.start({ data: folder.path });
  await assertFiles(new Drive(server, BUCKET), { a: utf8(body) });
});

Deno.test("Wrong access keys and signatures count towards the limit on wrong keys.", async () => {
  await using s3 = await stocked();
  const [guesser, other] = [newAddress(), newAddress()];
  const ask = async (key: typeof s3.key, address: string) => {
    using client = await s3.connect();
    const headers = { "X-Forwarded-For": address };
    await client.send(signedRequest(key, { method: "GET", path: `/${BUCKET}`, headers }));
    return await client.readAnswer();
  };
  const wrong = [
    { ...s3.key, secret_access_key: "x".repeat(40) },
    { ...s3.key, access_key_id: "KVAAAAAAAAAAAAAAAAAA" },
  ];
  for (let i = 0; i < 20; i++) {
    assertEquals((await ask(wrong[i % 2]!, guesser)).status, 403, String(i));
  }
  for (const key of wrong) {
    const answer = await ask(key, guesser);
    assertEquals(answer.status, 503, answer.body);
    assertMatch(answer.body, /<Code>SlowDown<\/Code>/);
  }
  assertEquals((await ask(s3.key, guesser)).status, 200);
  assertEquals((await ask(wrong[0]!, other)).status, 403);
  const drives = `${s3.server.origin}/v1/test-project`;
  const headers = { "X-Api-Key": "test-project_wrong", "X-Forwarded-For": guesser };
  const answer = await fetch(drives, { headers });
  assertEquals(answer.status, 429, await answer.text());
});

Deno.test("The log and the metrics name operations, and no buckets, names and signatures.", async () => {
  await using s3 = await stocked();
  using client = await s3.connect();
  const path = `/${BUCKET}/secret-name`;
  await client.send(
    signedRequest(s3.key, put(path, "content", { headers: { "X-Request-Id": "p" } })),
  );
  assertEquals((await client.readAnswer()).status, 200);
  const target = presignedTarget(s3.key, { method: "GET", path });
  const signature = target.split("=").at(-1) ?? "";
  for (const id of ["g", signature, `a-${signature}`]) {
    await client.send(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${id}\r\n\r\n`);
    const answer = await client.readAnswer();
    assertEquals(answer.body, "content");
    assertEquals(answer.header("X-Request-Id") === id, id === "g");
  }
  const head = signedRequest(s3.key, { method: "HEAD", path });
  const [, own = ""] = /Signature=(\w+)/.exec(head) ?? [];
  await client.send(head.replace("\r\n\r\n", `\r\nX-Request-Id: ${own}\r\n\r\n`));
  assertEquals((await client.readAnswer("HEAD")).status, 200);
  const wrong = target.slice(0, -1) + (target.endsWith("0") ? "1" : "0");
  await client.send(`GET ${wrong} HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: w\r\n\r\n`);
  assertEquals((await client.readAnswer()).status, 403);

  const stored = await lineOf(s3.server, "p");
  const { access_key_id: key } = s3.key;
  const { method, route, status, in: received } = stored;
  assertEquals([method, route, status, received], ["PUT", "S3 PutObject", 200, 7]);
  assertEquals(stored.key, key);
  const { route: read, out, key: reader } = await lineOf(s3.server, "g");
  assertEquals([read, out, reader], ["S3 GetObject", 7, key]);
  assertEquals((await lineOf(s3.server, "w")).key, null);
  await waitFor("the line of HEAD", () => linesOf(s3.server).find((line) => /HEAD/.test(line)));
  const log = linesOf(s3.server).join("\n");
  for (const secret of [signature, own, s3.key.secret_access_key, "secret-name", BUCKET]) {
    assert(!log.includes(secret), `${secret} in ${log}`);
  }
  const answer = await administer(s3.server, "GET", "/metrics");
  const metrics = answer.expect(200).text;
  assertMatch(
    metrics,
    /^kvdrive_http_requests_total\{route="S3 PutObject",method="PUT",status="200"\} 1$/m,
  );
  assertMatch(metrics, /^kvdrive_http_received_bytes_total\{route="S3 PutObject"\} 7$/m);
  assert(!metrics.includes("secret-name") && !metrics.includes(`"${BUCKET}`), metrics);
});
