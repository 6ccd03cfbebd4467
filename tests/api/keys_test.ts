import { assert, assertEquals } from "@std/assert";
import { MAX_PAYLOAD } from "../support/bytes.ts";
import { filesIn } from "../support/command.ts";
import { drives, send, Upload } from "../support/drive.ts";
import { rawRequest, sendRaw } from "../support/raw.ts";
import { PROJECT_ID, PROJECT_KEY } from "../support/server.ts";
import { assertErrorAnswer, suite } from "../support/suite.ts";

const test = suite("Every drive request needs the project key");

const WRONG_KEYS: [string, string | null][] = [
  ["no key", null],
  ["an empty key", ""],
  ["another secret", `${PROJECT_ID}_0123456789abcdefghijABCDEFGHIj`],
  ["a key that is cut short", PROJECT_KEY.slice(0, -1)],
  ["a key that goes on", `${PROJECT_KEY}x`],
  ["a key in capitals", PROJECT_KEY.toUpperCase()],
  ["the project id alone", PROJECT_ID],
  ["the project id without a secret", `${PROJECT_ID}_`],
  ["the secret alone", PROJECT_KEY.slice(PROJECT_ID.length + 1)],
  ["a key of a project that there is not", "unknown_0123456789abcdefghijABCDEFGHIJ"],
  ["the key twice", `${PROJECT_KEY}, ${PROJECT_KEY}`],
  ["a very long key", "x".repeat(10_000)],
  ["a word of every object", "__proto__"],
];

for (const [what, key] of WRONG_KEYS) {
  test(`A request with ${what} is 401.`, async (drive) => {
    await drive.put("a", "x");
    const answers = [
      await drive.send("GET", "/files", { key }),
      await drive.send("GET", "/files/download?name=a", { key }),
      await drive.unchangedBy(() => drive.send("POST", "/files?name=b", { key, body: "x" })),
      await drive.unchangedBy(() => drive.send("DELETE", "/files?names=a", { key })),
    ];
    for (const answer of answers) assertErrorAnswer(answer.expect(401));
  });
}

const CALLS: [string, string][] = [
  ["POST", "/files?name=b"],
  ["GET", "/files"],
  ["DELETE", "/files?names=a"],
  ["GET", "/files/download?name=a"],
  ["HEAD", "/files/download?name=a"],
  ["POST", "/uploads?name=b"],
  ["GET", "/uploads"],
  ["POST", "/uploads/{id}/parts?name=u&part=1"],
  ["PATCH", "/uploads/{id}?name=u"],
  ["DELETE", "/uploads/{id}?name=u"],
  ["GET", "/uploads/{id}?name=u"],
  ["GET", ""],
];

for (const [method, template] of CALLS) {
  const what = `${method} ${template || "/v1/{project_id}"}`;

  // "401 no key, or one that is not known · 403 a known key, but of another project"
  test(`${what} asks for a key, and for one of its project.`, async (drive) => {
    await drive.put("a", "x");
    const upload = await Upload.start(drive, "u");
    const path = template.replace("{id}", upload.id);
    const target = (project: string) =>
      template === "" ? `/v1/${project}` : `/v1/${project}/${drive.name}${path}`;
    await drive.unchangedBy(async () => {
      const none = await send(drive.server, method, target(PROJECT_ID), { key: null });
      const known = await send(drive.server, method, target("another-project"));
      const neither = await send(drive.server, method, target("another-project"), { key: "a_b" });
      const statuses = [none, known, neither].map(({ status }) => status);
      assertEquals(statuses, [401, 403, 401]);
      if (method !== "HEAD") [none, known, neither].forEach(assertErrorAnswer);
    });
  });
}

for (
  const project of ["test", "test-project-", "Test-Project", "%74est-projec", "a_b", "%ff", "ü"]
) {
  test(`The key does not open the project "${project}".`, async (drive) => {
    const target = `/v1/${encodeURI(project)}/${drive.name}/files`.replace("%25", "%");
    assertErrorAnswer((await send(drive.server, "GET", target)).expect(403));
  });
}

// "`X-Api-Key` is a header name, so its case does not matter."
for (const name of ["X-Api-Key", "X-API-Key", "x-api-key", "X-API-KEY"]) {
  test(`The key is read from ${name}.`, async (drive) => {
    const target = `/v1/${PROJECT_ID}/${drive.name}/files`;
    const headers = { "X-Api-Key": null, [name]: PROJECT_KEY };
    const answer = await sendRaw(drive.server.port, rawRequest("GET", target, headers));
    assertEquals(answer.expect(200).json, { names: [] });
  });
}

test("A key in the query does not count.", async (drive) => {
  const path = `/files?X-Api-Key=${PROJECT_KEY}&api_key=${PROJECT_KEY}&key=${PROJECT_KEY}`;
  assertErrorAnswer((await drive.send("GET", path, { key: null })).expect(401));
});

// "Nothing of the body is read, and nothing is stored, before the key is accepted."
test("A request without the key is answered before its body is sent.", async (drive) => {
  const target = `/v1/${PROJECT_ID}/${drive.name}/files?name=a`;
  const cases: [Record<string, string | null>, number][] = [
    [{ "X-Api-Key": null }, 401],
    [{ "X-Api-Key": "a_b" }, 401],
  ];
  for (const [key, status] of cases) {
    const headers = { ...key, "Content-Length": `${MAX_PAYLOAD}` };
    const answer = await sendRaw(drive.server.port, rawRequest("POST", target, headers, "x"));
    assertErrorAnswer(answer.expect(status));
  }
  assertEquals((await drives(drive.server)).get(drive.name), undefined);
});

test("A key of another project is refused before its body is sent.", async (drive) => {
  const target = `/v1/another-project/${drive.name}/files?name=a`;
  const headers = { "Transfer-Encoding": "chunked" };
  const answer = await sendRaw(
    drive.server.port,
    rawRequest("POST", target, headers, "1\r\nx\r\n"),
  );
  assertErrorAnswer(answer.expect(403));
});

// "Only a SHA-256 of a key is stored"
test("Neither the data folder nor the server's output holds the key.", async (drive) => {
  await drive.put("a", "x");
  (await drive.send("GET", "/files", { key: `${PROJECT_KEY}x` })).expect(401);
  const secret = PROJECT_KEY.slice(PROJECT_ID.length + 1);
  let files = 0;
  for await (const [name, bytes] of filesIn(drive.server.data)) {
    files++;
    assert(!new TextDecoder("latin1").decode(bytes).includes(secret), name);
  }
  assert(files > 0);
  assert(!drive.server.text.includes(secret), "The server printed a key");
});
