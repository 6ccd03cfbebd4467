import { assertEquals } from "@std/assert";
import { patternBytes } from "../support/bytes.ts";
import { Drive, Upload } from "../support/drive.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_ID } from "../support/server.ts";
import { addCases, type Case, suite } from "../support/suite.ts";

const test = suite("Query strings follow application/x-www-form-urlencoded");

const DECODED: [string, string][] = [
  ["name=a+b", "a b"],
  ["name=a%20b", "a b"],
  ["name=a%2Bb", "a+b"],
  ["name=a%2bb", "a+b"],
  ["name=+a+", " a "],
  ["name=a=b", "a=b"],
  ["name==", "="],
  ["name=a%26b%3Dc", "a&b=c"],
  ["name=a;b", "a;b"],
  ["name=a?b", "a?b"],
  ["name=a/b", "a/b"],
  ["name=%2e%2e%2fa", "../a"],
  ["name=%252e", "%2e"],
  ["name=%25zz", "%zz"],
  ["name=%C3%A9", "é"],
  ["name=%c3%a9", "é"],
  ["name=%F0%9F%A6%96", "🦖"],
  ["name=%EF%BB%BFa", "\ufeffa"],
  ["name=%EF%BF%BD", "\ufffd"],
  ["name=%0A-", "\n-"],
  ["n%61me=a", "a"],
  ["&&name=a&", "a"],
  ["Name=b&name=a", "a"],
  ["name=a&unknown=1", "a"],
  ["unknown&name=a&another=%20", "a"],
];

for (const [query, name] of DECODED) {
  test(`?${query} names ${JSON.stringify(name)}.`, async (drive) => {
    const answer = await drive.send("POST", `/files?${query}`, { body: "x" });
    assertEquals((answer.expect(201).json as { name: string }).name, name);
    assertEquals(await drive.names(), [name]);
    assertEquals((await drive.send("GET", `/files/download?${query}`)).expect(200).text, "x");
  });
}

// As curl sends an address that its user has not encoded.
test("UTF-8 that is not percent-encoded names the same file.", async (drive) => {
  const { port } = drive.server;
  const path = `/v1/${PROJECT_ID}/${drive.name}/files`;
  const put = (name: string) =>
    sendRaw(port, rawRequest("POST", `${path}?name=${name}`, { "Content-Length": "1" }, "x"));
  (await put("é/🦖")).expect(201);
  (await put("é%C3%A9")).expect(201);
  assertEquals(await drive.names(), ["é/🦖", "éé"]);
  (await put("é%C3")).expect(400);
  (await put("a b")).expect(400);
});

const MALFORMED = [
  "%",
  "a%",
  "%2",
  "%zz",
  "%2z",
  "%u0041",
  "%%41",
  "%ff",
  "%c3",
  "%c3%28",
  "%c0%af",
  "%e2%82",
  "%ed%a0%80",
  "%f4%90%80%80",
  "%f8%88%80%80%80",
];

const CALLS: [string, string, (value: string) => string][] = [
  ["POST", "a file's name", (value) => `/files?name=${value}`],
  ["POST", "an upload's name", (value) => `/uploads?name=${value}`],
  ["GET", "a download's name", (value) => `/files/download?name=${value}`],
  ["GET", "a prefix", (value) => `/files?prefix=${value}`],
  ["GET", "a last name", (value) => `/files?last=${value}`],
  ["GET", "a limit", (value) => `/files?limit=1${value}`],
  ["DELETE", "one of the names", (value) => `/files?names=a&names=${value}`],
];

// "Malformed percent-encoding, or bytes that are not UTF-8, is 400, not a silent U+FFFD."
for (const [method, what, path] of CALLS) {
  test(`Malformed encoding in ${what} is 400, and changes nothing.`, async (drive) => {
    await drive.put("a", "x");
    await drive.unchangedBy(async () => {
      for (const value of MALFORMED) {
        const answer = await drive.send(
          method,
          path(value),
          method === "POST" ? { body: "x" } : {},
        );
        assertEquals([value, answer.status, answer.errors.length > 0], [value, 400, true]);
      }
    });
  });
}

// "An empty `prefix=` or `last=` is the same as none."
test("An empty prefix, or last, is the same as none.", async (drive) => {
  await drive.putAll(["a", "b"]);
  for (const query of ["prefix=", "last=", "prefix=&last=", "prefix", "last"]) {
    assertEquals((await drive.send("GET", `/files?${query}`)).expect(200).json, {
      names: ["a", "b"],
    });
  }
});

const TWICE: Omit<Case, "name" | "status">[] = [
  { method: "POST", path: "/files?name=a&name=b", body: "x", contains: ["name"] },
  { method: "POST", path: "/files?name=a&name=a", body: "x" },
  { method: "POST", path: "/files?name=a&name=", body: "x" },
  { method: "POST", path: "/files?name=a&n%61me=b", body: "x" },
  { method: "POST", path: "/uploads?name=a&name=b" },
  { method: "GET", path: "/files/download?name=there&name=there" },
  { method: "GET", path: "/files?limit=1&limit=1", contains: ["limit"] },
  { method: "GET", path: "/files?prefix=a&prefix=b", contains: ["prefix"] },
  { method: "GET", path: "/files?prefix=&prefix=" },
  { method: "GET", path: "/files?last=a&last=b", contains: ["last"] },
  { method: "GET", path: "/files?recursive=false&recursive=true", contains: ["recursive"] },
  { method: "GET", path: "/files?details=true&details=true", contains: ["details"] },
  { method: "GET", path: "/uploads?limit=1&limit=2", contains: ["limit"] },
];

// "A parameter given twice is 400 (except `names`)."
addCases(
  test,
  TWICE.map((one) => ({ ...one, name: `${one.method} ${one.path} is refused.`, status: 400 })),
  (drive) => drive.put("there", "x"),
);

test("A parameter given twice in the calls of an upload is refused.", async (drive) => {
  const upload = await Upload.start(drive, "a");
  const body = patternBytes(10);
  await drive.unchangedBy(async () => {
    for (const query of ["name=a&name=a&part=1", "name=a&part=1&part=1"]) {
      (await drive.send("POST", `${upload.path}/parts?${query}`, { body })).expect(400);
    }
    for (const method of ["GET", "PATCH", "DELETE"]) {
      (await drive.send(method, `${upload.path}?name=a&name=a`)).expect(400);
    }
  });
  assertEquals(await upload.parts(), []);
});

test("`names` may be given more than once.", async (drive) => {
  await drive.putAll(["a b", "c"]);
  const answer = (await drive.send("DELETE", "/files?names=a+b&names=c")).expect(200);
  assertEquals(answer.json, { deleted: ["a b", "c"], failed: [] });
});

// The path is no form: there a plus sign is a plus sign.
test("A plus sign in the path is no space.", async ({ server }) => {
  const drive = new Drive(server, "p+q");
  const response = await server.fetch("p+q", "/files?name=a", { method: "POST", body: "x" });
  assertEquals((await response.json()).drive_name, "p+q");
  assertEquals(await drive.names(), ["a"]);
});
