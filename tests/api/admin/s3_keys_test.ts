import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  administer,
  assertPrivate,
  Project,
  PROJECTS,
  SECONDS,
  WITH_S3_KEYS,
  withKey,
  withoutDate,
} from "../../support/admin.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Projects have S3 keys", WITH_S3_KEYS);

const ALL = ["read", "write", "delete", "list", "admin"];
const UNKNOWN = "KV".padEnd(20, "0");

test("An S3 key is created with limits, and lists show it without its secret.", async ({ server }) => {
  const project = await Project.make(server);
  const limits = {
    name: "backup",
    permissions: ["list", "write"],
    drives: ["photos", "Büro"],
    prefix: "in/ü",
    expires_in: 3600,
  };
  const made = await project.makeS3Key(limits, project.owner);
  const { access_key_id, secret_access_key, expires, ...rest } = withoutDate(made);
  assertMatch(access_key_id, /^KV[A-Z0-9]{18}$/);
  assertMatch(secret_access_key, /^[A-Za-z0-9]{40}$/);
  assertEquals(rest, {
    name: "backup",
    permissions: ["write", "list"],
    drives: ["photos", "Büro"],
    prefix: "in/ü",
    last_used: null,
    usable: true,
  });
  assertMatch(expires ?? "", SECONDS);
  assertEquals(Date.parse(expires ?? "") - Date.parse(made.created), 3_600_000);
  const { secret_access_key: _, ...listed } = made;
  assertEquals(await project.s3Keys(), [listed]);
  assertEquals(await project.s3Keys(project.owner), [listed]);
});

test("Without a body, or with nulls, an S3 key has all rights.", async ({ server }) => {
  const project = await Project.make(server);
  const nulls = { name: null, permissions: null, drives: null, prefix: null, expires_in: null };
  for (const body of [undefined, {}, nulls]) {
    const answer = (await project.call("POST", "/s3-keys", { body })).expect(201);
    assertPrivate(answer);
    const { name, permissions, drives, prefix, expires } = answer.json as Record<string, unknown>;
    assertEquals([name, permissions, drives, prefix, expires], [null, ALL, null, null, null]);
  }
  assertEquals((await project.s3Keys()).length, 3);
});

const BAD: [unknown, string][] = [
  [{ name: " " }, '"name" is blank'],
  [{ permissions: [] }, '"permissions" must be an array of 1 to 5 items'],
  [{ permissions: ["*"] }, "not a permission"],
  [{ drives: ["a/b"] }, 'which has a "/"'],
  [{ prefix: "" }, '"prefix" is empty: leave it out'],
  [{ prefix: "a\0" }, "NUL"],
  [{ prefix: 7 }, '"prefix" must be a string'],
  [{ expires_in: 0 }, '"expires_in" must be a whole number from 1 to 315360000'],
  [{ name_prefix: "a" }, '"name_prefix" is unknown'],
  [{ secret_access_key: "a" }, '"secret_access_key" is unknown'],
  [{ access_key_id: UNKNOWN }, '"access_key_id" is unknown'],
];

test("Limits that make no sense are 400, and no S3 key is created.", async ({ server }) => {
  const project = await Project.make(server);
  for (const [body, part] of BAD) {
    const answer = (await project.call("POST", "/s3-keys", { body })).expect(400);
    assertErrorAnswer(answer);
    assertStringIncludes(answer.errors.join(), part);
  }
  assertEquals(await project.s3Keys(), []);
});

test("A revoked S3 key is gone, and an unknown one is 404.", async ({ server }) => {
  const project = await Project.make(server);
  const other = await Project.make(server);
  const [gone, kept] = [await project.makeS3Key(), await project.makeS3Key()];
  const path = `/s3-keys/${gone.access_key_id}`;
  assertErrorAnswer((await other.call("DELETE", path)).expect(404));
  const answer = (await project.call("DELETE", path, { as: project.owner })).expect(200);
  assertEquals(answer.json, { access_key_id: gone.access_key_id });
  assertErrorAnswer((await project.call("DELETE", path)).expect(404));
  for (const id of [UNKNOWN, "x", gone.access_key_id.toLowerCase(), "%00", "a".repeat(3000)]) {
    assertErrorAnswer((await project.call("DELETE", `/s3-keys/${id}`)).expect(404));
  }
  const ids = (await project.s3Keys()).map(({ access_key_id }) => access_key_id);
  assertEquals(ids, [kept.access_key_id]);
});

test("No key creates an S3 key with more rights than its own, or without admin.", async ({ server }) => {
  const project = await Project.make(server);
  const own = {
    permissions: ["read", "list", "admin"],
    drives: ["a", "b"],
    name_prefix: "in/",
    expires_in: 600,
  };
  const as = withKey((await project.makeKey(own)).project_key);
  const { name_prefix: prefix, ...same } = own;
  const more: [object, string][] = [
    [{ permissions: ["read", "write"] }, 'the permission \\"write\\"'],
    [{ drives: ["a", "c"] }, "more drives"],
    [{ drives: null }, "more drives"],
    [{ prefix: "in" }, 'more names than its own: give a \\"prefix\\" that begins with'],
    [{ prefix: null }, "more names"],
    [{ expires_in: 700 }, "expires later"],
    [{ expires_in: null }, "expires later"],
  ];
  for (const [change, part] of more) {
    const body = { ...same, prefix, ...change };
    const answer = await project.call("POST", "/s3-keys", { as, body });
    assertErrorAnswer(answer.expect(403));
    assertStringIncludes(answer.text, part);
  }
  await project.makeS3Key({ ...same, prefix: "in/x", expires_in: 500 }, as);
  const reader = withKey((await project.makeKey({ permissions: ["read"] })).project_key);
  const calls = [["GET", ""], ["POST", ""], ["DELETE", `/${UNKNOWN}`]] as const;
  for (const [method, path] of calls) {
    const answer = (await project.call(method, `/s3-keys${path}`, { as: reader })).expect(403);
    assertErrorAnswer(answer);
    assertStringIncludes(answer.text, 'does not have the permission \\"admin\\"');
  }
  assertEquals((await project.s3Keys()).length, 1);
});

test("A limited key sees and revokes S3 keys within its limits only.", async ({ server }) => {
  const project = await Project.make(server);
  const as = withKey((await project.makeKey({ drives: ["a"] })).project_key);
  const [whole, inside] = [await project.makeS3Key(), await project.makeS3Key({ drives: ["a"] })];
  const ids = async () => (await project.s3Keys(as)).map(({ access_key_id }) => access_key_id);
  assertEquals(await ids(), [inside.access_key_id]);
  const revoke = (id: string) => project.call("DELETE", `/s3-keys/${id}`, { as });
  assertErrorAnswer((await revoke(whole.access_key_id)).expect(404));
  (await revoke(inside.access_key_id)).expect(200);
  assertEquals((await project.s3Keys()).length, 1);
});

test("The audit log has who created and revoked an S3 key, by its id.", async ({ server }) => {
  const project = await Project.make(server);
  const { access_key_id } = await project.makeS3Key({}, project.owner);
  (await project.call("DELETE", `/s3-keys/${access_key_id}`)).expect(200);
  const { events } = (await project.call("GET", "/events")).expect(200).json as {
    events: { event: string; by: string; target: string }[];
  };
  const [{ prefix = "" } = {}] = await project.keys();
  assertEquals(events.slice(0, 2).map(({ event, by, target }) => [event, by, target]), [
    ["s3_key.revoked", "admin", access_key_id],
    ["s3_key.created", prefix, access_key_id],
  ]);
});

test("An S3 key that expires disappears, and one ends with its project.", async ({ server }) => {
  const project = await Project.make(server);
  const { access_key_id } = await project.makeS3Key({ expires_in: 3 });
  assertEquals((await project.s3Keys()).length, 1);
  await new Promise((resolve) => setTimeout(resolve, 3100));
  assertEquals(await project.s3Keys(), []);
  assertErrorAnswer((await project.call("DELETE", `/s3-keys/${access_key_id}`)).expect(404));
  await project.makeS3Key();
  (await administer(server, "DELETE", project.path)).expect(202);
  const body = { project_id: project.id };
  while ((await administer(server, "POST", PROJECTS, { body })).status === 409);
  assertEquals(await project.s3Keys(), []);
});

test("An S3 key opens nothing of the Drive API.", async ({ server }) => {
  const project = await Project.make(server);
  const { access_key_id, secret_access_key } = await project.makeS3Key();
  for (const secret of [secret_access_key, `${project.id}_${secret_access_key}`, access_key_id]) {
    const as = { ...withKey(secret), "X-Forwarded-For": `192.0.2.${secret.length}` };
    const answer = await administer(server, "GET", `/v1/${project.id}`, { as });
    assertErrorAnswer(answer.expect(401));
  }
});
