import { assert, assertEquals } from "@std/assert";
import { MAX_PAYLOAD, patternBytes } from "../support/bytes.ts";
import { send } from "../support/drive.ts";
import { rawRequest, sendAndDisconnect, sendRaw } from "../support/raw.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { addCases, assertErrorAnswer, type Case, LEAKS, runCase, suite } from "../support/suite.ts";

const test = suite("An error is told as JSON, with nothing of the inside of the server");

/** One example of each status and endpoint. */
const EXAMPLES: Case[] = [
  {
    name: "no name",
    method: "POST",
    path: "/files",
    status: 400,
    code: "invalid_parameter",
    contains: ["name"],
  },
  {
    name: "a name that ends with a slash",
    method: "POST",
    path: "/files?name=dir/",
    status: 400,
    code: "invalid_file_name",
    contains: ["name", "/"],
  },
  {
    name: "a name that is too long",
    method: "POST",
    path: `/files?name=${"x".repeat(1_025)}`,
    status: 400,
    code: "invalid_file_name",
    contains: ["1024"],
  },
  {
    name: "a limit that is none",
    method: "GET",
    path: "/files?limit=many",
    status: 400,
    code: "invalid_parameter",
    contains: ["limit"],
  },
  {
    name: "names that are none",
    method: "DELETE",
    path: "/files",
    body: `{"names":"a"}`,
    status: 400,
    code: "invalid_field",
    contains: ["names"],
  },
  {
    name: "a body that is no JSON",
    method: "DELETE",
    path: "/files",
    body: `{"names":[`,
    status: 400,
    code: "invalid_body",
    contains: ["JSON"],
    notContains: ["Unexpected", "position"],
  },
  {
    name: "malformed percent-encoding",
    method: "GET",
    path: "/files?prefix=%zz",
    status: 400,
    code: "invalid_encoding",
    notContains: ["URI malformed"],
  },
  {
    name: "no key",
    method: "GET",
    path: "/files",
    key: null,
    status: 401,
    code: "missing_key",
    contains: ["X-Api-Key"],
  },
  {
    name: "an unknown key",
    method: "GET",
    path: "/files",
    key: `${PROJECT_ID}_wrong-secret`,
    status: 401,
    code: "unknown_key",
    notContains: ["wrong-secret"],
  },
  {
    name: "another project",
    method: "GET",
    path: "/files",
    project: "other",
    status: 403,
    code: "wrong_project",
  },
  {
    name: "a missing file",
    method: "GET",
    path: "/files/download?name=lost",
    status: 404,
    code: "file_not_found",
    contains: ["lost"],
  },
  {
    name: "a missing route",
    method: "GET",
    path: "/nothing",
    status: 404,
    code: "route_not_found",
  },
  {
    name: "a missing upload",
    method: "PATCH",
    path: "/uploads/lost?name=a",
    status: 404,
    code: "upload_not_found",
    contains: ["upload"],
  },
  {
    name: "a method that is none",
    method: "PUT",
    path: "/files",
    status: 405,
    code: "method_not_allowed",
    contains: ["PUT"],
  },
  {
    name: "a condition that does not hold",
    method: "POST",
    path: "/files?name=there",
    headers: { "If-None-Match": "*" },
    body: "x",
    status: 412,
    code: "precondition_failed",
  },
  {
    name: "a body that is too large",
    method: "POST",
    path: "/files?name=a",
    body: patternBytes(MAX_PAYLOAD + 1),
    status: 413,
    code: "body_too_large",
    contains: ["10"],
  },
  {
    name: "a range beyond the end",
    method: "GET",
    path: "/files/download?name=there",
    headers: { Range: "bytes=5-" },
    status: 416,
    code: "range_not_satisfiable",
  },
];

addCases(
  test,
  EXAMPLES.map((one) => ({ ...one, name: `${one.status} for ${one.name}.` })),
  (drive) => drive.put("there", "x"),
);

/** What is odd, but must be neither an error of the server nor a way to its inside. */
const ODD: [string, string][] = [
  ["GET", "/files?last=%00"],
  ["GET", "/files?prefix=%00"],
  ["GET", "/files?limit=__proto__"],
  ["GET", "/files?__proto__=a&constructor=b"],
  ["GET", "/files?recursive=maybe"],
  ["GET", "/files?details=maybe"],
  ["GET", "/files?recursive="],
  ["GET", "/files?prefix=%F4%8F%BF%BF&recursive=false"],
  ["GET", `/files?recursive=false&prefix=${"a/".repeat(3_000)}`],
  ["GET", `/files?recursive=false&last=${"a/".repeat(3_000)}`],
  ["GET", "/files?recursive=false&last=%2F"],
  ["GET", "/files/download?name=__proto__"],
  ["GET", "/files/download?name='%20OR%201=1--"],
  ["GET", "/uploads?last=%00"],
  ["GET", `/uploads?last=${"x".repeat(5_000)}`],
  ["GET", `/uploads/${"x".repeat(5_000)}?name=a`],
  ["GET", "/uploads/__proto__?name=a"],
  ["PATCH", "/uploads/%00?name=a"],
  ["PATCH", "/uploads/%ff?name=a"],
  ["DELETE", "/uploads/%zz?name=a"],
  ["POST", "/uploads/constructor/parts?name=a&part=1"],
  ["DELETE", "/files?names=%00"],
];

for (const [method, path] of ODD) {
  test(`${method} ${path.slice(0, 70)} is no server error.`, async (drive) => {
    const answer = await drive.send(method, path);
    assert(answer.status < 500, `${answer.status}: ${answer.text}`);
    if (answer.status >= 400) assertErrorAnswer(answer);
  });
}

const ODD_HEADERS: Record<string, string>[] = [
  { "Range": "bytes=" + "9".repeat(5_000) + "-" },
  { "Range": "bytes=0-0," + "1-1,".repeat(2_000) },
  { "If-None-Match": '"'.repeat(3_001) },
  { "If-Match": ",".repeat(5_000) + '"a' },
  { "If-Modified-Since": "9".repeat(5_000) },
  { "If-Unmodified-Since": "Sun, 99 Nov 9999 99:99:99 GMT" },
  { "If-Range": "W/" + '"'.repeat(5_000) },
  { "Origin": "\u00ff" },
  { "X-Request-Id": "x".repeat(30_000) },
];

for (const headers of ODD_HEADERS) {
  const what = JSON.stringify(headers).slice(0, 50);
  test(`The headers ${what} are no server error.`, async (drive) => {
    await drive.put("a", "content");
    const answer = await drive.get("a", headers);
    assert(answer.status < 500, `${answer.status}: ${answer.text}`);
    if (answer.status === 200) assertEquals(answer.text, "content");
  });
}

const ODD_BODIES: string[] = [
  `{"names":${"[".repeat(10_000)}${"]".repeat(10_000)}}`,
  `{"names":["\\ud800"]}`,
  `{"__proto__":{"names":["a"]}}`,
  `{"names":{"length":1,"0":"a"}}`,
  `{"names":[${"1,".repeat(5_000)}1]}`,
  "\ufeff{}",
  "\u0000",
];

for (const body of ODD_BODIES) {
  test(`The body ${body.slice(0, 40)} deletes nothing.`, async (drive) => {
    await drive.put("a", "x");
    const answer = await drive.unchangedBy(() => drive.send("DELETE", "/files", { body }));
    assert(answer.status < 500, `${answer.status}: ${answer.text}`);
    if (answer.status >= 400) assertErrorAnswer(answer);
  });
}

test("A malformed request gets an error answer, too.", async ({ server }) => {
  const targets = ["/v1/%zz/d/files", "/%", "/v1/%ff", `/v1/${PROJECT_ID}/%00/files`, "*"];
  for (const target of targets) {
    const answer = await sendRaw(server.port, rawRequest("GET", target));
    assert(answer.status >= 400 && answer.status < 500, `${target}: ${answer.status}`);
    for (const leak of LEAKS) assert(!answer.text.includes(leak), answer.text);
  }
});

test("An error answer is complete JSON of the announced length.", async (drive) => {
  const target = `/v1/${PROJECT_ID}/${drive.name}/files/download?name=a%22b%0Ac`;
  const answer = (await sendRaw(drive.server.port, rawRequest("GET", target))).expect(404);
  assertErrorAnswer(answer);
  assertEquals(answer.header("Content-Length"), String(answer.bytes.length));
});

test("No error contains a key.", async (drive) => {
  const key = `${PROJECT_KEY}-and-more`;
  const answers = [
    await runCase(drive, { name: "", method: "GET", path: "/files", key, status: 401 }),
    await send(drive.server, "GET", `/v1/other/${drive.name}/files`),
  ];
  for (const answer of answers) assert(!JSON.stringify([...answer.headers]).includes(PROJECT_KEY));
});

// The suite's last step sees that the server made no noise about them.
test("A client that leaves in the middle is no error of the server.", async (drive) => {
  await drive.put("a", patternBytes(5_000_000));
  for (let i = 0; i < 10; i++) {
    const response = await drive.server.fetch(drive.name, "/files/download?name=a");
    const reader = response.body?.getReader();
    if (i % 2 === 0) await reader?.read();
    await reader?.cancel();
    const target = `/v1/${PROJECT_ID}/${drive.name}/files?name=b`;
    const head = rawRequest("POST", target, { "Content-Length": "900000" }, "x".repeat(70_000 * i));
    await sendAndDisconnect(drive.server.port, head);
  }
  assertEquals(await drive.names(), ["a"]);
  assertEquals(await drive.usage(), { files: 1, bytes: 5_000_000 });
});
