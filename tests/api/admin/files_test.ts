import { assert, assertEquals } from "@std/assert";
import {
  ADMIN_TOKEN,
  administer,
  ADMINISTERED,
  administrator,
  type Caller,
  fromNewAddress,
  Project,
  withKey,
} from "../../support/admin.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("The administrator's token opens the drives of every project", ADMINISTERED);

test("Every call of the file API takes the token in place of a key.", async ({ server }) => {
  const project = await Project.make(server);
  const root = `/v1/${project.id}`;
  const call = (method: string, path: string, body?: string) =>
    administer(server, method, root + path, body === undefined ? {} : { body });
  (await call("POST", "/d/files?name=a", "abc")).expect(201);
  assertEquals((await call("GET", "/d/files")).expect(200).json, { names: ["a"] });
  assertEquals((await call("GET", "/d/files/download?name=a")).expect(200).text, "abc");
  const started = (await call("POST", "/d/uploads?name=b")).expect(202).json;
  const upload = `/d/uploads/${(started as { upload_id: string }).upload_id}`;
  (await call("POST", `${upload}/parts?name=b&part=1`, "xyz")).expect(200);
  (await call("GET", `${upload}?name=b`)).expect(200);
  (await call("PATCH", `${upload}?name=b`)).expect(200);
  (await call("GET", "/d/uploads")).expect(200);
  assertEquals(await project.drive("d").text("b"), "xyz");
  (await call("DELETE", "/d/files?names=a")).expect(200);
  assertEquals((await call("GET", "")).expect(200).json, {
    project_id: project.id,
    drives: [{ drive_name: "d", files: 1, bytes: 3 }],
  });
});

test("An invalid token is 401, and a key takes precedence over a token.", async ({ server }) => {
  const project = await Project.make(server);
  const other = await Project.make(server);
  const callers: [string, Caller, number][] = [
    ["a wrong token", fromNewAddress({ Authorization: "Bearer wrong" }), 401],
    ["a key as a token", fromNewAddress({ Authorization: `Bearer ${project.key}` }), 401],
    ["the token in another scheme", { Authorization: `Basic ${ADMIN_TOKEN}` }, 401],
    ["the token as a key", fromNewAddress(withKey(ADMIN_TOKEN)), 401],
    ["an empty key beside the token", fromNewAddress({ ...administrator, ...withKey("") }), 401],
    ["a wrong key beside the token", fromNewAddress({ ...administrator, ...withKey("a_b") }), 401],
    ["another's key beside the token", { ...administrator, ...other.owner }, 403],
    ["a key beside what is no token", { ...project.owner, Authorization: "Bearer x" }, 200],
    ["the token", administrator, 200],
  ];
  for (const [who, as, status] of callers) {
    const answer = await administer(server, "GET", `/v1/${project.id}/d/files`, { as });
    assertEquals([who, answer.status], [who, status]);
    if (status !== 200) assertErrorAnswer(answer);
    assertEquals(answer.headers.has("WWW-Authenticate"), status === 401, who);
  }
});

test("An unknown project is 404 for the token, with any name.", async ({ server }) => {
  for (const id of ["unknown", "a_b", "%ff", "x".repeat(100)]) {
    for (const path of ["", "/d/files", "/%ff/files?limit=0"]) {
      const answer = await administer(server, "GET", `/v1/${id}${path}`);
      assertErrorAnswer(answer.expect(404));
    }
    const written = await administer(server, "POST", `/v1/${id}/d/files?name=a`, { body: "x" });
    assertErrorAnswer(written.expect(404));
  }
});

test("A deleted project is 404 for the token, and 401 for its key.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("d").put("a", "abc");
  (await project.call("DELETE", "")).expect(202);
  const path = `/v1/${project.id}/d/files`;
  (await administer(server, "GET", path)).expect(404);
  (await administer(server, "GET", path, { as: fromNewAddress(project.owner) })).expect(401);
});

test("The answers are those that the owner gets.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("d").put("a", "abc");
  for (const path of ["", "/d/files?details=true", "/d/files?limit=0", "/d/files/download"]) {
    const [one, other] = await Promise.all([
      administer(server, "GET", `/v1/${project.id}${path}`),
      administer(server, "GET", `/v1/${project.id}${path}`, { as: project.owner }),
    ]);
    assert(one !== undefined && other !== undefined);
    assertEquals([one.status, one.text], [other.status, other.text]);
  }
});
