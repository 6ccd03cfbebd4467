import { assertEquals, assertStringIncludes } from "@std/assert";
import { delay } from "@std/async/delay";
import { ADMINISTERED, type NewKey, Project, withKey } from "../../support/admin.ts";
import { Answer } from "../../support/answer.ts";
import { utf8 } from "../../support/bytes.ts";
import { GatedBody } from "../../support/paced_body.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Calls whose key is revoked before their JSON ends", ADMINISTERED);

/** Calls with a JSON body: method, path below the project or its drive, body. */
const OF_DRIVE: [string, string, unknown][] = [
  ["DELETE", "/files", { names: ["a"] }],
  ["POST", "/files/copy", { from: "a", to: "b" }],
  ["POST", "/files/move", { from: "a", to: "b" }],
  ["PATCH", "/files?name=a", { content_type: "text/html" }],
  ["POST", "/files/exist", { names: ["a"] }],
  ["POST", "/archive", { names: ["a"] }],
  ["POST", "/folders", { name: "f/" }],
  ["POST", "/links", { prefix: "" }],
  ["POST", "/trash/restore", { ids: ["x"] }],
  ["DELETE", "/trash", { all: true }],
];
const OF_PROJECT: [string, string, unknown][] = [
  ["PATCH", "", { change_days: 0 }],
  ["POST", "/keys", { name: "later" }],
  ["POST", "/apps", { name: "later" }],
  ["PUT", "/apps/notes/access", { enabled: false }],
  ["POST", "/apps/notes/keys", { name: "later" }],
  ["POST", "/webhooks", { name: "later", url: "http://192.0.2.1/" }],
];

/** Waits until the server has authorized a request with a key. */
async function waitForUse(project: Project, { prefix }: NewKey): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    const used = (await project.keys()).find((key) => key.prefix === prefix)?.last_used;
    if (used !== null && used !== undefined) return;
    await delay(10);
  }
  throw new Error("The server has not seen the key");
}

/** Sends a call with a key that is revoked half-way through its body. */
async function sendRevoked(
  project: Project,
  [method, path, value]: readonly [string, string, unknown],
): Promise<Answer> {
  const key = await project.makeKey();
  const body = new GatedBody(utf8(JSON.stringify(value)));
  const url = `${project.server.origin}${path}`;
  const call = fetch(url, { method, headers: withKey(key.project_key), body: body.stream });
  await waitForUse(project, key);
  (await project.call("DELETE", `/keys/${key.prefix}`)).expect(200);
  body.open();
  return await Answer.of(await call);
}

test("A key that is revoked while JSON comes changes nothing.", async ({ server }) => {
  const project = await Project.make(server);
  (await project.call("PATCH", "", { body: { change_days: 1 } })).expect(200);
  await project.makeProtectedApp("notes");
  const drive = project.drive("d");
  await drive.put("a", "x");
  const calls = [
    ...OF_DRIVE.map(([method, path, body]) => [method, `/v1/${project.id}/d${path}`, body]),
    ...OF_PROJECT.map(([method, path, body]) => [method, project.path + path, body]),
  ] as [string, string, unknown][];
  for (const call of calls) {
    const answer = await sendRevoked(project, call);
    assertEquals([call, answer.status], [call, 401]);
    assertErrorAnswer(answer);
    assertStringIncludes(answer.errors.join(), "revoked while the body was received");
    assertEquals(await drive.names(), ["a"]);
  }
  assertEquals((await drive.send("GET", "/links")).json, { links: [] });
  assertEquals((await drive.send("GET", "/folders")).json, { folders: [] });
  assertEquals((await project.keys()).length, 1);
  assertEquals((await project.call("GET", "/webhooks")).json, { webhooks: [] });
});
