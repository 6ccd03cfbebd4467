import { assert, assertEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  administer,
  fromNewAddress,
  type NewS3Key,
  Project,
  PROJECTS,
  S3_SECRET,
  WITH_S3_KEYS,
  withKey,
} from "../../support/admin.ts";
import { filesIn } from "../../support/command.ts";
import { TestServer } from "../../support/server.ts";

/** Every secret that the administration makes, in the answers that made it; and what it did besides. */
async function makeSecrets(project: Project): Promise<{ secrets: string[]; answers: string[] }> {
  const answers: string[] = [];
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    as?: Record<string, string>,
  ) => {
    const answer = await project.call(method, path, { body, ...(as === undefined ? {} : { as }) });
    answers.push(answer.text);
    return answer;
  };
  const app = await project.makeProtectedApp("notes");
  const key = (await call("POST", "/keys", { name: "deploy" })).json as { project_key: string };
  const more = (await call("POST", "/keys", {}, project.owner)).json as {
    project_key: string;
    prefix: string;
  };
  const one = (await call("POST", `${app}/keys`, { name: "ci" })).json as { api_key: string };
  const two = (await call("POST", `${app}/keys`, { name: "cd", description: "x" })).json as {
    api_key: string;
  };
  const s3 = (await call("POST", "/s3-keys", { name: "backup" })).json as NewS3Key;
  for (
    const path of ["", "/keys", "/s3-keys", "/events", "/apps", app, `${app}/access`, `${app}/keys`]
  ) {
    await call("GET", path);
    await call("GET", path, undefined, withKey(key.project_key));
    for (const secret of [`${key.project_key}x`, one.api_key]) {
      await call("GET", path, undefined, fromNewAddress(withKey(secret)));
      await call("GET", path, undefined, fromNewAddress({ Authorization: `Bearer ${secret}` }));
    }
  }
  await call("POST", `${app}/keys`, { name: "ci" });
  await call("DELETE", `${app}/keys/ci`);
  await call("DELETE", `/keys/${more.prefix}`);
  const another = (await call("POST", "/s3-keys", {}, project.owner)).json as NewS3Key;
  await call("DELETE", `/s3-keys/${another.access_key_id}`);
  await call("DELETE", `/s3-keys/${s3.secret_access_key.slice(0, 20)}`);
  const events = (await administer(project.server, "GET", "/admin/v1/events")).text;
  answers.push(events);
  await call("GET", "", undefined, fromNewAddress(withKey(more.project_key)));
  answers.push((await administer(project.server, "GET", PROJECTS)).text);
  answers.push((await project.files("GET", "")).text);
  const keys = [key.project_key, more.project_key].map((text) => text.split("_")[1] ?? "");
  const apiKeys = [one.api_key, two.api_key].map((text) => text.split(".")[1] ?? "");
  const s3Keys = [s3.secret_access_key, another.secret_access_key];
  return { secrets: [...keys, ...apiKeys, ...s3Keys], answers };
}

Deno.test("A secret appears once, in the answer that makes it, and nowhere else.", async () => {
  await using server = await TestServer.start(WITH_S3_KEYS);
  const project = await Project.make(server);
  const { secrets, answers } = await makeSecrets(project);
  assertEquals(new Set(secrets).size, 6);
  for (const secret of secrets) {
    assert(secret.length >= 22, secret);
    assertEquals(answers.filter((text) => text.includes(secret)).length, 1, secret);
  }
  const own = project.key.split("_")[1] ?? "";
  for (const secret of [own, ADMIN_TOKEN, S3_SECRET]) {
    assertEquals(answers.filter((text) => text.includes(secret)), []);
  }
  await assertStoredNowhere(server, [...secrets, own, ADMIN_TOKEN, S3_SECRET]);
});

/** "Only a SHA-256 of a key is stored", secrets of S3 keys only encrypted, and nothing logs one. */
async function assertStoredNowhere(server: TestServer, secrets: readonly string[]): Promise<void> {
  // Both while the newest entries lie in the write-ahead log, and when all are in the file.
  for (const stopped of [false, true]) {
    if (stopped) assertEquals((await server.stop()).code, 0);
    let bytes = 0;
    for await (const [name, content] of filesIn(server.data)) {
      bytes += content.byteLength;
      const text = new TextDecoder("latin1").decode(content);
      for (const secret of secrets) assert(!text.includes(secret), `${name} has ${secret}`);
    }
    assert(bytes > 4096, `${bytes} bytes are no store`);
  }
  for (const secret of secrets) assert(!server.text.includes(secret), server.text);
}
