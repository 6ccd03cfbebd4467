import { assertEquals } from "@std/assert";
import { drives, send, Upload } from "../support/drive.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("Routes, methods and targets");

const ROOT = `/v1/${PROJECT_ID}`;

const UNKNOWN_ROUTES: string[] = [
  "/v1",
  "/v1/",
  "/v2",
  `/v2/${PROJECT_ID}/d/files`,
  `/V1/${PROJECT_ID}/d/files`,
  `/${PROJECT_ID}/d/files`,
  `/v1//d/files`,
  `${ROOT}/`,
  `${ROOT}//files`,
  `${ROOT}/d`,
  `${ROOT}/d/`,
  `${ROOT}/d/file`,
  `${ROOT}/d/Files`,
  `${ROOT}/d/files/`,
  `${ROOT}/d/files/upload`,
  `${ROOT}/d/files/download/`,
  `${ROOT}/d/files/download/a`,
  `${ROOT}/d/uploads/`,
  `${ROOT}/d/uploads//parts`,
  `${ROOT}/d/uploads/id/`,
  `${ROOT}/d/uploads/id/part`,
  `${ROOT}/d/uploads/id/parts/`,
  `${ROOT}/d/uploads/id/parts/1`,
  `${ROOT}/d/e/files`,
  `${ROOT}/d%2Ffiles`,
];

for (const target of UNKNOWN_ROUTES) {
  test(`${target} is 404, with a key or without.`, async ({ server }) => {
    for (const method of ["GET", "POST", "DELETE", "BREW"]) {
      assertErrorAnswer((await send(server, method, target)).expect(404));
      assertErrorAnswer((await send(server, method, target, { key: null })).expect(404));
    }
  });
}

const ROUTES: { path: string; methods: string[] }[] = [
  { path: "", methods: ["GET", "HEAD"] },
  { path: "/d/files", methods: ["GET", "HEAD", "POST", "PATCH", "DELETE"] },
  { path: "/d/files/download", methods: ["GET", "HEAD"] },
  { path: "/d/uploads", methods: ["GET", "HEAD", "POST"] },
  { path: "/d/uploads/id", methods: ["GET", "HEAD", "PATCH", "DELETE"] },
  { path: "/d/uploads/id/parts", methods: ["POST"] },
];

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "PROPFIND"];

// "405 with `Allow`"; the method is judged before the key.
for (const { path, methods } of ROUTES) {
  test(`${ROOT}${path} allows ${methods.join(", ")} and nothing else.`, async ({ server }) => {
    const refused = METHODS.filter((method) => !methods.includes(method));
    for (const method of refused) {
      for (const key of [PROJECT_KEY, null]) {
        const request = rawRequest(method, ROOT + path, { "X-Api-Key": key });
        const answer = await sendRaw(server.port, request);
        assertEquals([method, answer.status], [method, 405]);
        if (method !== "HEAD") assertErrorAnswer(answer);
        const allowed = answer.header("Allow").split(",").map((one) => one.trim());
        assertEquals(allowed.filter((one) => one !== "OPTIONS").sort(), methods.toSorted());
      }
    }
    assertEquals((await drives(server)).get("d"), undefined);
  });
}

test("HEAD answers as GET does, on every route, without a body.", async (drive) => {
  await drive.put("a", "x");
  const upload = await Upload.start(drive, "u");
  const targets = [
    ROOT,
    `${ROOT}/${drive.name}/files`,
    `${ROOT}/${drive.name}/files?limit=0`,
    `${ROOT}/${drive.name}/files/download?name=a`,
    `${ROOT}/${drive.name}/files/download?name=missing`,
    `${ROOT}/${drive.name}/uploads`,
    `${ROOT}/${drive.name}${upload.path}?name=u`,
    `${ROOT}/${drive.name}/uploads/unknown?name=u`,
  ];
  for (const target of targets) {
    const get = await send(drive.server, "GET", target);
    const head = await sendRaw(drive.server.port, rawRequest("HEAD", target));
    assertEquals([target, head.status], [target, get.status]);
    assertEquals(head.header("Content-Type"), get.header("Content-Type"));
    assertEquals(head.bytes.length, 0);
  }
});

/** Each request is wrong in two ways; the earlier check of the contract's order wins. */
const ORDER: { name: string; method: string; path: string; key: string | null; status: number }[] =
  [
    { name: "route before method", method: "BREW", path: "/d/nothing", key: null, status: 404 },
    { name: "method before key", method: "PUT", path: "/d/files", key: null, status: 405 },
    { name: "method before drive", method: "PUT", path: "/%ff/files", key: null, status: 405 },
    { name: "key before name", method: "POST", path: "/d/files", key: null, status: 401 },
    { name: "key before limit", method: "GET", path: "/d/files?limit=0", key: null, status: 401 },
    { name: "key before query", method: "GET", path: "/d/files?limit=%zz", key: null, status: 401 },
    { name: "key before drive", method: "GET", path: "/%ff/files", key: null, status: 401 },
    {
      name: "key before upload",
      method: "PATCH",
      path: "/d/uploads/id?name=a",
      key: "a_b",
      status: 401,
    },
    {
      name: "parameters before existence",
      method: "GET",
      path: "/d/files/download?name=a&name=b",
      key: PROJECT_KEY,
      status: 400,
    },
  ];

for (const { name, method, path, key, status } of ORDER) {
  test(`The order of checks: ${name}.`, async ({ server }) => {
    const answer = await sendRaw(
      server.port,
      rawRequest(method, ROOT + path, { "X-Api-Key": key }),
    );
    assertErrorAnswer(answer.expect(status));
  });
}

test("The order of checks: parameters before body.", async ({ server }) => {
  // Neither body is ever sent: an answer means that it was not waited for.
  for (const path of ["/d/files", "/d/uploads/id/parts?name=a&part=0"]) {
    const request = rawRequest("POST", ROOT + path, { "Content-Length": "1000" });
    assertErrorAnswer((await sendRaw(server.port, request)).expect(400));
  }
});

test("OPTIONS answers 204 without a key.", async ({ server }) => {
  for (const { path } of ROUTES) {
    const answer = await send(server, "OPTIONS", ROOT + path, { key: null });
    assertEquals(answer.expect(204).bytes.length, 0);
  }
});

// A URL parser would fold these segments, and so reach another drive or route.
for (
  const [drive, encodings] of [
    ["..", ["..", "%2e%2e", "%2E%2E", ".%2e"]],
    [".", [".", "%2e"]],
  ] as const
) {
  test(`A drive may be named "${drive}", however it is written.`, async ({ server }) => {
    for (const [index, encoded] of encodings.entries()) {
      const target = `${ROOT}/${encoded}/files`;
      const headers = { "Content-Length": "1" };
      const put = rawRequest("POST", `${target}?name=${index}`, headers, "x");
      const answer = (await sendRaw(server.port, put)).expect(201);
      assertEquals(answer.json, { name: `${index}`, project_id: PROJECT_ID, drive_name: drive });
      const download = rawRequest("GET", `${target}/download?name=${index}`);
      assertEquals((await sendRaw(server.port, download)).expect(200).text, "x");
    }
    const files = encodings.length;
    assertEquals((await drives(server)).get(drive), { files, bytes: files });
  });
}

test("No way up leads from one route to another.", async ({ server }) => {
  const targets = [
    `${ROOT}/d/files/../files`,
    `${ROOT}/d/%2e%2e/d/files`,
    `/v1/../v1/${PROJECT_ID}/d/files`,
    `/../etc/passwd`,
    `/%2e%2e/%2e%2e/etc/passwd`,
    `//v1/${PROJECT_ID}/d/files`,
    `//example.org${ROOT}/d/files`,
  ];
  for (const target of targets) {
    const answer = await sendRaw(server.port, rawRequest("GET", target));
    assertEquals([target, answer.status], [target, 404]);
    assertErrorAnswer(answer);
  }
});

const BAD_HOSTS = ["bad host", "a/b", "a?b", "a#b", "a@b", "[", "a:b:c"];
const NO_ADDRESSES = ["", ":80", "1.2.3.999", "[:::1]", "a:65536"];

for (const host of [...BAD_HOSTS, ...NO_ADDRESSES]) {
  test(`The host "${host}" is refused, and nothing is stored.`, async (drive) => {
    const target = `${ROOT}/${drive.name}`;
    const { port } = drive.server;
    const answer = await sendRaw(port, rawRequest("GET", `${target}/files`, { Host: host }));
    assertErrorAnswer(answer.expect(400));
    const body = '{"name":"a"}';
    const link = await sendRaw(port, rawRequest("POST", `${target}/links`, { Host: host }, body));
    assertErrorAnswer(link.expect(400));
    assertEquals((await drive.send("GET", "/links")).expect(200).json, { links: [] });
  });
}

test("HTTP/1.0 needs no host: a link then has the server's own address.", async (drive) => {
  const body = '{"name":"a"}';
  const head = `POST ${ROOT}/${drive.name}/links HTTP/1.0\r\nX-Api-Key: ${PROJECT_KEY}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n`;
  const answer = (await sendRaw(drive.server.port, head + body)).expect(201);
  const { url } = answer.json as { url: string };
  assertEquals(new URL(url).port, String(drive.server.port));
});

for (const host of ["localhost", "example.org:8080", "127.0.0.1", "[::1]:80", "UPPER.case"]) {
  test(`The host "${host}" is as good as another.`, async (drive) => {
    const target = `${ROOT}/${drive.name}/files`;
    const answer = await sendRaw(drive.server.port, rawRequest("GET", target, { Host: host }));
    assertEquals(answer.expect(200).json, { names: [] });
  });
}

// RFC 9112, 3.2.2: "a server MUST accept the absolute-form in requests".
test("A target in absolute form is the same target.", async (drive) => {
  await drive.put("a", "x");
  const target = `http://example.org${ROOT}/${drive.name}/files?prefix=a`;
  const answer = await sendRaw(drive.server.port, rawRequest("GET", target));
  assertEquals(answer.expect(200).json, { names: ["a"] });
});

test("An empty query is no query.", async (drive) => {
  await drive.put("a", "x");
  for (const end of ["?", "?&", "?&&="]) {
    const target = `${ROOT}/${drive.name}/files${end}`;
    const answer = await sendRaw(drive.server.port, rawRequest("GET", target));
    assertEquals(answer.expect(200).json, { names: ["a"] });
  }
});
