import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { TestServer } from "../support/server.ts";
import { Drive } from "../support/drive.ts";
import { type Step, suite } from "../support/suite.ts";
import { Dav, ifToken, makeKey, tokenOf } from "./support/dav.ts";

const add = suite("WebDAV locks names", { twin: false });

function test(sentence: string, run: (dav: Dav, drive: Parameters<Step>[0]) => Promise<void>) {
  add(sentence, async (drive) => {
    const dav = new Dav(drive);
    await dav.make();
    await run(dav, drive);
  });
}

test("A locked file changes only with the token of its lock.", async (dav) => {
  await dav.put("a", "one");
  await dav.put("b", "other");
  const token = await dav.lock("a");
  assertMatch(token, /^urn:uuid:[0-9a-f-]{36}$/);
  const refused = (await dav.put("a", "two")).expect(423);
  assertStringIncludes(refused.text, "<D:lock-token-submitted>");
  assertStringIncludes(refused.text, dav.path("a"));
  (await dav.send("DELETE", "a")).expect(423);
  (await dav.transfer("MOVE", "a", "c")).expect(423);
  (await dav.transfer("COPY", "b", "a")).expect(423);
  (await dav.transfer("MOVE", "b", "a")).expect(423);
  const body =
    '<propertyupdate xmlns="DAV:"><set><prop><x xmlns="u:x"/></prop></set></propertyupdate>';
  (await dav.send("PROPPATCH", "a", { body })).expect(423);
  (await dav.transfer("COPY", "a", "copy")).expect(201);
  assertEquals(await dav.text("a"), "one");
  (await dav.put("a", "two", ifToken(token))).expect(204);
  (await dav.send("PROPPATCH", "a", { body, headers: ifToken(token) })).expect(207);
  (await dav.unlock("a", token)).expect(204);
  (await dav.put("a", "three")).expect(204);
});

test("A lock shows in its property, and ends with its file.", async (dav) => {
  await dav.put("a", "x");
  const token = await dav.lock("a");
  const shown = await dav.propfind("a", "0");
  for (const part of [token, "A person", "<D:exclusive/>", "<D:depth>0</D:depth>"]) {
    assertStringIncludes(shown.text, part);
  }
  assertStringIncludes((await dav.propfind("", "1")).text, token);
  (await dav.send("DELETE", "a", { headers: ifToken(token) })).expect(204);
  (await dav.put("a", "new")).expect(201);
  assert(!(await dav.propfind("a", "0")).text.includes(token));
});

test("Exclusive locks exclude all others, shared ones each other not.", async (dav) => {
  await dav.put("a", "x");
  const first = await dav.lock("a", { scope: "shared" });
  const second = await dav.lock("a", { scope: "shared" });
  const refused = (await dav.tryLock("a")).expect(423);
  assertStringIncludes(refused.text, "<D:no-conflicting-lock>");
  (await dav.put("a", "y")).expect(423);
  (await dav.put("a", "y", ifToken(second))).expect(204);
  (await dav.unlock("a", first)).expect(204);
  (await dav.unlock("a", second)).expect(204);
  await dav.lock("a");
  (await dav.tryLock("a", { scope: "shared" })).expect(423);
});

test(
  "A lock of a folder covers its members, with Depth infinity all below.",
  async (dav, drive) => {
    await drive.putAll(["f/a", "f/g/b"]);
    const shallow = await dav.lock("f/", { depth: "0" });
    (await dav.put("f/new", "x")).expect(423);
    (await dav.send("DELETE", "f/a")).expect(423);
    (await dav.send("MKCOL", "f/h")).expect(423);
    (await dav.transfer("COPY", "f/a", "f/copy")).expect(423);
    (await dav.put("f/a", "x")).expect(204);
    (await dav.put("f/g/new", "x")).expect(201);
    (await dav.put("f/new", "x", { If: `<${dav.url("f/")}> (<${shallow}>)` })).expect(201);
    (await dav.unlock("f/", shallow)).expect(204);
    const deep = await dav.lock("f/", { depth: "infinity" });
    for (const name of ["f/a", "f/g/b", "f/g/other"]) (await dav.put(name, "x")).expect(423);
    (await dav.tryLock("f/g/b")).expect(423);
    (await dav.put("f/g/b", "y", ifToken(deep))).expect(204);
    (await dav.unlock("f/g/b", deep)).expect(204);
    (await dav.put("f/g/b", "z")).expect(204);
  },
);

test("A folder with a locked member is neither deleted nor moved.", async (dav, drive) => {
  await drive.putAll(["f/a", "f/g/b"]);
  const token = await dav.lock("f/g/b");
  const refused = (await dav.send("DELETE", "f/")).expect(423);
  assertStringIncludes(refused.text, dav.path("f/g/b"));
  (await dav.transfer("MOVE", "f/", "h/")).expect(423);
  (await dav.tryLock("f/", { depth: "infinity" })).expect(423);
  assertEquals(await drive.names(), ["f/a", "f/g/b"]);
  (await dav.transfer("COPY", "f/", "copy/")).expect(201);
  const tagged = { If: `<${dav.url("f/g/b")}> (<${token}>)` };
  (await dav.transfer("MOVE", "f/", "h/", tagged)).expect(201);
  (await dav.put("h/g/b", "x")).expect(204);
});

test("A name without a file is locked by an empty file.", async (dav, drive) => {
  const answer = (await dav.tryLock("new.docx")).expect(201);
  assertEquals(await drive.names(), ["new.docx"]);
  assertEquals(await drive.text("new.docx"), "");
  (await dav.put("new.docx", "text")).expect(423);
  (await dav.put("new.docx", "text", ifToken(tokenOf(answer)))).expect(204);
  (await dav.tryLock("absent/new")).expect(409);
  (await dav.tryLock("folder/")).expect(409);
});

test("A lock is refreshed by its token, and ends after its time.", async (dav) => {
  await dav.put("a", "x");
  const token = await dav.lock("a", { headers: { Timeout: "Infinite, Second-1" } });
  (await dav.put("a", "y")).expect(423);
  const headers = { ...ifToken(token), Timeout: "Second-2" };
  const refreshed = (await dav.send("LOCK", "a", { headers })).expect(200);
  assertStringIncludes(refreshed.text, "<D:timeout>Second-2</D:timeout>");
  assertStringIncludes(refreshed.text, token);
  await delay(2200);
  (await dav.put("a", "y")).expect(204);
  (await dav.send("LOCK", "a", { headers: ifToken(token) })).expect(412);
  (await dav.send("LOCK", "a")).expect(412);
  (await dav.unlock("a", token)).expect(409);
});

test("The header If decides on tokens and entity tags.", async (dav) => {
  const etag = (await dav.put("a", "x")).header("ETag");
  const token = await dav.lock("a");
  const cases: [string, number][] = [
    [`(<${token}>)`, 204],
    [`(<urn:uuid:other>)`, 412],
    [`(<urn:uuid:other>) (<${token}>)`, 204],
    [`(Not <urn:uuid:other> <${token}>)`, 204],
    [`(Not <${token}>)`, 412],
    [`(<${token}> ["other"])`, 412],
    [`<${dav.url("a")}> (<${token}>)`, 204],
    [`<${dav.path("a")}> (<${token}>)`, 204],
    [`<${dav.url("absent")}> (<${token}>)`, 412],
    [`<http://elsewhere.example/dav/x> (<${token}>)`, 412],
    [`(Not <DAV:no-lock>)`, 423],
    [`(<DAV:no-lock>)`, 412],
    [`nothing`, 400],
    [`(`, 400],
    [`()`, 400],
    [`(Not)`, 400],
    [`(<${token}>`, 400],
    [`${"(<urn:x>)".repeat(200)}`, 400],
  ];
  (await dav.put("a", "y", { If: `(<${token}> [${etag}])` })).expect(204);
  for (const [header, status] of cases) {
    const answer = await dav.put("a", "z", { If: header });
    assertEquals(answer.status, status, header);
  }
});

test("A lock is for the key that made it, and an owner may end it.", async (dav, drive) => {
  await dav.put("a", "x");
  const limits = { permissions: ["read", "write", "delete", "list"] };
  const [mine, theirs] = [await makeKey(drive, limits), await makeKey(drive, limits)];
  const token = await dav.lock("a", { key: mine });
  const sent = { body: "stolen", headers: ifToken(token) };
  (await dav.send("PUT", "a", { ...sent, key: theirs })).expect(423);
  (await dav.send("PUT", "a", sent)).expect(423);
  (await dav.unlock("a", token, theirs)).expect(403);
  (await dav.send("LOCK", "a", { headers: ifToken(token), key: theirs })).expect(412);
  (await dav.send("PUT", "a", { ...sent, key: mine })).expect(204);
  (await dav.unlock("a", token)).expect(204);
});

test(
  "A flood of locks ends at the limit of its key, and harms no other key and drive.",
  async (dav, drive) => {
    const owner = "x".repeat(900);
    const body =
      '<lockinfo xmlns="DAV:"><lockscope><shared/></lockscope><locktype><write/></locktype>' +
      `<owner>${owner}</owner></lockinfo>`;
    await dav.put("a", "x");
    let last = 0;
    let count = 0;
    for (; count < 200 && last < 300; count++) {
      last = (await dav.send("LOCK", "a", { body, headers: { Depth: "0" } })).status;
    }
    assertEquals(last, 507);
    assert(count > 40, `${count} locks`);
    const key = await makeKey(drive, {});
    (await dav.send("LOCK", "a", { body, key, headers: { Depth: "0" } })).expect(200);
    const other = new Dav(drive.another("other"));
    await other.make();
    await other.put("a", "x");
    await other.lock("a");
    const long = body.replace(owner, "x".repeat(2000));
    (await other.send("LOCK", "a", { body: long })).expect(400);
  },
);

test("A wrong request for a lock is 400 and locks nothing.", async (dav) => {
  await dav.put("a", "x");
  for (
    const body of [
      "<lockinfo xmlns='DAV:'/>",
      "<lockinfo xmlns='DAV:'><lockscope><other/></lockscope><locktype><write/></locktype></lockinfo>",
      "<lockinfo xmlns='DAV:'><lockscope><shared/></lockscope><locktype><read/></locktype></lockinfo>",
      "<other xmlns='DAV:'/>",
    ]
  ) {
    (await dav.send("LOCK", "a", { body })).expect(400);
  }
  (await dav.tryLock("a", { depth: "1" })).expect(400);
  (await dav.send("UNLOCK", "a")).expect(400);
  (await dav.unlock("a", "urn:uuid:other")).expect(409);
  (await dav.put("a", "y")).expect(204);
});

test("Other doors are not bound by locks: a token is for those who asked.", async (dav, drive) => {
  await dav.put("a", "x");
  const token = await dav.lock("a");
  await drive.put("a", "by the drive API");
  assertEquals(await dav.text("a"), "by the drive API");
  (await dav.put("a", "mine", ifToken(token))).expect(204);
});

Deno.test("Locks hold across a restart, and a kill.", async () => {
  const data = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  let token: string;
  try {
    {
      await using server = await TestServer.start({ data });
      const dav = new Dav(new Drive(server, "locked"));
      await dav.make();
      await dav.put("a", "x");
      token = await dav.lock("a");
      server.process.kill("SIGKILL");
      await server.process.status;
    }
    await using server = await TestServer.start({ data });
    const dav = new Dav(new Drive(server, "locked"));
    (await dav.put("a", "y")).expect(423);
    (await dav.put("a", "y", ifToken(token))).expect(204);
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});

Deno.test("A lock makes no file where the disk has no room.", async () => {
  const data = await Deno.makeTempDir({ prefix: "kvdrive-test-" });
  try {
    {
      await using server = await TestServer.start({ data });
      const dav = new Dav(new Drive(server, "full"));
      await dav.make();
      await dav.put("a", "x");
    }
    const args = ["--disk-reserve", String(2 ** 52)];
    await using server = await TestServer.start({ data, args });
    const drive = new Drive(server, "full");
    const dav = new Dav(drive);
    (await dav.tryLock("new")).expect(507);
    await dav.unlock("a", await dav.lock("a"));
    assertEquals(await drive.names(), ["a"]);
  } finally {
    await Deno.remove(data, { recursive: true });
  }
});
