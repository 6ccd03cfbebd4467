import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertSameBytes, MIB, patternBytes } from "../support/bytes.ts";
import { PROJECT_ID } from "../support/server.ts";
import { type Step, suite } from "../support/suite.ts";
import { Dav, firstLine, hrefsIn, propertyIn, rawStatus } from "./support/dav.ts";

const add = suite("WebDAV reads and writes the files of a drive", { twin: false });

/** A step with a drive that exists. */
function test(sentence: string, run: (dav: Dav, drive: Parameters<Step>[0]) => Promise<void>) {
  add(sentence, async (drive) => {
    const dav = new Dav(drive);
    await dav.make();
    await run(dav, drive);
  });
}

test("OPTIONS needs no key and names the classes, to Windows at the root as well.", async (dav) => {
  const windows = { Translate: "f" };
  for (const path of [dav.path(), dav.path("absent"), "/dav", "/"]) {
    const headers = path === "/" ? windows : {};
    const answer = (await dav.sendTo("OPTIONS", path, { key: null, headers })).expect(200);
    assertEquals(answer.header("DAV"), "1, 2, 3");
    assertStringIncludes(answer.header("Allow"), "PROPFIND");
    assertEquals(answer.header("MS-Author-Via"), "DAV");
  }
  const others = (await dav.sendTo("OPTIONS", "/", { key: null })).expect(204);
  assertEquals(others.headers.has("DAV"), false);
});

test(
  "A file that is written here is one of the drive API, and the other way round.",
  async (dav, drive) => {
    const put = (await dav.put("a.txt", "here")).expect(201);
    assertEquals(await drive.text("a.txt"), "here");
    assertEquals(await drive.etag("a.txt"), put.header("ETag"));
    await drive.put("folder/b.txt", "there");
    const get = (await dav.send("GET", "folder/b.txt")).expect(200);
    assertEquals(get.text, "there");
    assertEquals(get.header("ETag"), await drive.etag("folder/b.txt"));
    assertEquals(await dav.names(), ["a.txt", "folder/"]);
    (await dav.put("a.txt", "again")).expect(204);
    assertEquals(await drive.text("a.txt"), "again");
  },
);

test("Bodies of every size come back, with and without an announced length.", async (dav) => {
  for (const size of [0, 1, 65_536, 65_537, 17 * MIB]) {
    const bytes = patternBytes(size);
    (await dav.send("PUT", "announced", { body: bytes })).expect(size === 0 ? 201 : 204);
    const stream = new Blob([bytes]).stream() as ReadableStream<Uint8Array<ArrayBuffer>>;
    (await dav.send("PUT", `streamed-${size}`, { body: stream })).expect(201);
    for (const name of ["announced", `streamed-${size}`]) {
      assertSameBytes((await dav.send("GET", name)).expect(200).bytes, bytes);
    }
  }
});

test("Ranges and conditions hold as for downloads.", async (dav) => {
  const etag = (await dav.put("a", "0123456789")).header("ETag");
  const range = (await dav.send("GET", "a", { headers: { Range: "bytes=2-4" } })).expect(206);
  assertEquals(range.text, "234");
  (await dav.send("GET", "a", { headers: { Range: "bytes=20-" } })).expect(416);
  (await dav.send("GET", "a", { headers: { "If-None-Match": etag } })).expect(304);
  const head = (await dav.send("HEAD", "a")).expect(200);
  assertEquals(head.header("Content-Length"), "10");
  (await dav.put("a", "x", { "If-None-Match": "*" })).expect(412);
  (await dav.put("a", "x", { "If-Match": '"other"' })).expect(412);
  (await dav.put("a", "x", { "If-Match": etag })).expect(204);
  (await dav.send("DELETE", "a", { headers: { "If-Match": etag } })).expect(412);
  assertEquals(await dav.text("a"), "x");
});

test("A part of a file cannot be stored.", async (dav) => {
  await dav.put("a", "whole");
  const headers = { "Content-Range": "bytes 0-1/5" };
  (await dav.put("a", "pa", headers)).expect(400);
  assertEquals(await dav.text("a"), "whole");
});

test("A folder needs the one above it, and a name that is free.", async (dav, drive) => {
  (await dav.send("MKCOL", "a/b")).expect(409);
  (await dav.put("a/b.txt", "x")).expect(409);
  const absent = new Dav(drive.another("absent"));
  for (const name of ["b.txt", "a/b.txt"]) (await absent.put(name, "x")).expect(409);
  await absent.make();
  (await absent.put("b.txt", "x")).expect(201);
  for (const name of ["b.txt", ""]) (await absent.send("DELETE", name)).expect(204);
  (await absent.put("b.txt", "x")).expect(409);
  (await dav.send("MKCOL", "a")).expect(201);
  (await dav.send("MKCOL", "a/")).expect(405);
  (await dav.send("MKCOL", "a/b/")).expect(201);
  (await dav.send("MKCOL", "c", { body: "<x/>" })).expect(415);
  await dav.put("file", "x");
  for (const name of ["file", "file/"]) (await dav.send("MKCOL", name)).expect(405);
  (await dav.put("a", "x")).expect(405);
  (await dav.put("a/", "x")).expect(405);
  assertEquals((await drive.list({ recursive: "false" })).names, ["a/", "file"]);
});

test("An emptied folder stays, also one that was only a part of names.", async (dav, drive) => {
  await drive.put("trip/2026/a", "x");
  (await dav.send("DELETE", "trip/2026/a")).expect(204);
  assertEquals(await dav.names("trip/"), ["2026/"]);
  await drive.put("other/b", "x");
  (await dav.transfer("MOVE", "other/b", "trip/b")).expect(201);
  assertEquals(await dav.names(), ["other/", "trip/"]);
  (await dav.send("DELETE", "trip/2026/")).expect(204);
  (await dav.send("DELETE", "trip/b")).expect(204);
  assertEquals(await dav.names("trip/"), []);
});

test("A folder is deleted with everything in it, and nothing beside it.", async (dav, drive) => {
  await drive.putAll(["a/1", "a/b/2", "a/b/c/3", "a.txt", "ab/1", "a-/1"]);
  await dav.send("MKCOL", "a/empty");
  (await dav.send("DELETE", "a")).expect(204);
  assertEquals(await drive.names(), ["a-/1", "a.txt", "ab/1"]);
  assertEquals(await dav.names(), ["a-/", "a.txt", "ab/"]);
  (await dav.send("DELETE", "a")).expect(404);
});

test("More names than a page of the store are deleted, copied and moved.", async (dav, drive) => {
  const names = Array.from({ length: 1203 }, (_, i) => `many/${String(i).padStart(5, "0")}`);
  await drive.fill(names);
  (await dav.transfer("COPY", "many/", "copy/")).expect(201);
  (await dav.transfer("MOVE", "many/", "moved/")).expect(201);
  const expected = names.map((name) => name.slice("many/".length));
  assertEquals(await dav.names("copy/"), expected);
  assertEquals(await dav.names("moved/"), expected);
  (await dav.send("DELETE", "copy/")).expect(204);
  assertEquals(await dav.names(), ["moved/"]);
});

test("Files are copied and moved, within the drive and to another one.", async (dav, drive) => {
  await dav.put("a", "one");
  (await dav.transfer("COPY", "a", "b")).expect(201);
  (await dav.transfer("COPY", "a", "b")).expect(204);
  (await dav.transfer("COPY", "a", "b", { Overwrite: "F" })).expect(412);
  (await dav.transfer("COPY", "a", "absent/b")).expect(409);
  (await dav.transfer("COPY", "absent", "b")).expect(404);
  (await dav.transfer("MOVE", "b", "c")).expect(201);
  const other = new Dav(drive.another("other"));
  const headers = { Destination: other.url("d") };
  (await dav.send("MOVE", "c", { headers })).expect(409);
  await other.make();
  (await dav.send("MOVE", "c", { headers })).expect(201);
  assertEquals(await dav.names(), ["a"]);
  assertEquals(await other.text("d"), "one");
});

test("A folder replaces another one: what is only in that is gone.", async (dav, drive) => {
  for (const method of ["COPY", "MOVE"] as const) {
    const [from, to] = [`${method}-from`, `${method}-to`];
    await drive.putAll([`${from}/same`, `${from}/in/new`, `${to}/same`, `${to}/old`]);
    await drive.put(`${to}/same`, "replaced");
    (await dav.transfer(method, from, to, { Overwrite: "F" })).expect(412);
    (await dav.transfer(method, `${from}/`, `${to}/`)).expect(204);
    assertEquals(await drive.names({ prefix: `${to}/` }), [`${to}/in/new`, `${to}/same`]);
    assertEquals(await dav.text(`${to}/same`), `${from}/same`);
    assertEquals((await drive.names({ prefix: `${from}/` })).length, method === "COPY" ? 2 : 0);
  }
});

test("A file replaces a folder, and a folder a file.", async (dav, drive) => {
  await drive.putAll(["folder/x", "file", "second"]);
  (await dav.transfer("COPY", "file", "folder")).expect(204);
  assertEquals(await drive.names(), ["file", "folder", "second"]);
  await drive.put("again/y", "y");
  (await dav.transfer("MOVE", "again", "second")).expect(204);
  assertEquals(await drive.names(), ["file", "folder", "second/y"]);
});

test("A folder is copied alone with Depth 0, and never into itself.", async (dav, drive) => {
  await drive.putAll(["a/1", "a/b/2"]);
  (await dav.transfer("COPY", "a", "c", { Depth: "0" })).expect(201);
  assertEquals(await dav.names("c/"), []);
  for (const to of ["a", "a/", "a/b/d"]) (await dav.transfer("COPY", "a", to)).expect(403);
  (await dav.transfer("MOVE", "a/b", "a")).expect(403);
  (await dav.transfer("COPY", "a", "d", { Depth: "1" })).expect(400);
  (await dav.transfer("MOVE", "a", "d", { Depth: "0" })).expect(400);
  (await dav.transfer("COPY", "a", "d", { Overwrite: "maybe" })).expect(400);
  assertEquals(await drive.names(), ["a/1", "a/b/2"]);
});

test(
  "A folder is not moved into one that it is in, also beside a file of that name.",
  async (dav, drive) => {
    await drive.putAll(["x", "x/a/1", "x/2"]);
    (await dav.transfer("MOVE", "x/a/", "x")).expect(403);
    (await dav.transfer("COPY", "x/a/", "x")).expect(403);
    assertEquals(await drive.names(), ["x", "x/2", "x/a/1"]);
  },
);

test("Drives are the folders of their project, created and deleted while they are empty.", async (dav) => {
  const project = `/dav/${PROJECT_ID}/`;
  const list = async () => {
    const answer = await dav.sendTo("PROPFIND", project, { headers: { Depth: "1" } });
    return hrefsIn(answer.expect(207));
  };
  assert((await list()).includes(dav.path()));
  await dav.put("a", "x");
  (await dav.send("DELETE", "")).expect(403);
  (await dav.transfer("MOVE", "", "elsewhere")).expect(403);
  (await dav.send("DELETE", "a")).expect(204);
  (await dav.send("DELETE", "")).expect(204);
  assert(!(await list()).includes(dav.path()));
  (await dav.sendTo("DELETE", project)).expect(403);
  const root = await dav.sendTo("PROPFIND", "/dav/", { headers: { Depth: "1" } });
  assertEquals(hrefsIn(root.expect(207)), ["/dav/", project]);
});

test(
  "Names of every kind have a path; those that clients would resolve have none.",
  async (dav, drive) => {
    const names = ["a b", "100%", "é", "日本", "🦖", "it's [a] {b} & #1!?.txt", "a+b;c=d", 'q"<>'];
    for (const name of names) (await dav.put(name, name)).expect(201);
    assertEquals((await dav.names()).sort(), [...names].sort());
    for (const name of names) assertEquals(await dav.text(name), name);
    await drive.putAll(["x/../y", "x//y", "x/./y", "../z", "/z", "x/y"]);
    assertEquals(await dav.names("x/"), ["y"]);
    assertEquals((await dav.names()).sort(), [...names, "x/"].sort());
  },
);

test("A control character does not break the XML of a list.", async (dav, drive) => {
  await drive.put("a\u0001b", "x");
  const answer = await dav.propfind("", "1");
  assertStringIncludes(answer.text, "/a%01b</D:href>");
  assertEquals(propertyIn(answer, "getcontentlength"), "1");
  assert(!answer.text.includes("\u0001") && !answer.text.includes("&#x1;"), answer.text);
});

test(
  "A path with an encoded slash, a dot segment or bad encoding is refused.",
  async (dav, drive) => {
    await dav.put("a", "x");
    for (
      const part of ["..%2fa", "%2e%2e/a", "../a", "b%2Fa", "./a", "%2e/a", "%00", "%ff", "%zz"]
    ) {
      const target = `${dav.path()}${part}`;
      for (const method of ["GET", "DELETE", "PROPFIND", "MKCOL"]) {
        const status = await rawStatus(drive, method, target);
        assertEquals(status, 400, `${method} ${part}`);
      }
    }
    assertEquals(await dav.text("a"), "x");
    (await dav.sendTo("GET", `${dav.path()}/a`)).expect(200);
  },
);

test("What a browser opens acts as no part of the server.", async (dav) => {
  await dav.put("page.html", "<script>alert(1)</script>");
  const page = (await dav.send("GET", "page.html")).expect(200);
  assertStringIncludes(page.header("Content-Security-Policy"), "sandbox");
  assertStringIncludes(page.header("Content-Disposition"), "attachment");
  assertEquals(page.header("X-Content-Type-Options"), "nosniff");
  const folder = (await dav.send("GET", "")).expect(200);
  assertEquals(folder.header("Content-Type"), "text/plain; charset=utf-8");
  assertStringIncludes(folder.header("Content-Security-Policy"), "sandbox");
});

test("An unknown method names the others.", async (dav) => {
  const answer = (await dav.send("PATCH", "a", { body: "x" })).expect(405);
  assertStringIncludes(answer.header("Allow"), "PROPPATCH");
});

test(
  "A small body that waits to be asked for is asked for once its name is free.",
  async (dav, drive) => {
    await drive.put("folder/x", "x");
    const answerTo = async (name: string) => {
      const head = { "Content-Length": "5", Expect: "100-continue" };
      return await firstLine(drive, "PUT", dav.path(name), head);
    };
    assertEquals(await answerTo("a"), "HTTP/1.1 100 Continue");
    assertEquals(await answerTo("absent/a"), "HTTP/1.1 409 Conflict");
    assertEquals(await answerTo("folder"), "HTTP/1.1 405 Method Not Allowed");
    await dav.lock("b");
    assertEquals(await answerTo("b"), "HTTP/1.1 423 Locked");
  },
);

test("A list has the reason phrase of its status.", async (dav, drive) => {
  const line = await firstLine(drive, "PROPFIND", dav.path(), { Depth: "0" });
  assertEquals(line, "HTTP/1.1 207 Multi-Status");
});
