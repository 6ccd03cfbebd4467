import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  administer,
  ADMINISTERED,
  fromNewAddress,
  Project,
  SECONDS,
  withKey,
  withoutDate,
} from "../../support/admin.ts";
import { assertErrorAnswer, suite } from "../../support/suite.ts";

const test = suite("Keys are created with limits", ADMINISTERED);

const HOUR = 3_600_000;
const ALL = ["read", "write", "delete", "list", "admin"];

test("A key is created with limits, and lists show them.", async ({ server }) => {
  const project = await Project.make(server);
  const limits = {
    name: "scanner",
    permissions: ["list", "write"],
    drives: ["photos", "Büro"],
    name_prefix: "in/ü",
    expires_in: 3600,
  };
  const made = await project.makeKey(limits, project.owner);
  const { project_key, prefix, expires, ...rest } = withoutDate(made);
  assert(project_key.startsWith(`${project.id}_${prefix}`));
  assertEquals(rest, {
    name: "scanner",
    permissions: ["write", "list"],
    drives: ["photos", "Büro"],
    name_prefix: "in/ü",
    last_used: null,
  });
  assertEquals(SECONDS.test(expires ?? ""), true, `${expires}`);
  assertEquals(Date.parse(expires ?? "") - Date.parse(made.created), HOUR);
  const listed = (await project.keys()).find((key) => key.prefix === prefix);
  const { project_key: _, ...withoutSecret } = made;
  assertEquals(listed, withoutSecret);
});

test("What is absent or null does not limit a key, and what is repeated counts once.", async ({ server }) => {
  const project = await Project.make(server);
  const nulls = {
    name: null,
    permissions: null,
    drives: null,
    name_prefix: null,
    expires_in: null,
  };
  for (const body of [{}, nulls]) {
    const { permissions, drives, name_prefix, expires } = await project.makeKey(body);
    assertEquals([permissions, drives, name_prefix, expires], [ALL, null, null, null]);
  }
  const twice = { permissions: ["read", "read"], drives: ["d", "d", "e"] };
  const { permissions, drives } = await project.makeKey(twice);
  assertEquals([permissions, drives], [["read"], ["d", "e"]]);
});

const BAD: [unknown, string][] = [
  [{ permissions: [] }, '"permissions" must be an array of 1 to 5 items'],
  [{ permissions: "read" }, '"permissions" must be an array'],
  [{ permissions: { read: true } }, '"permissions" must be an array'],
  [{ permissions: [["read"]] }, '"permissions" has an item that is not a string'],
  [{ permissions: ["read", null] }, '"permissions" has an item that is not a string'],
  [{ permissions: ["Read"] }, '"Read", which is not a permission: choose from read, write'],
  [{ permissions: ["read "] }, "not a permission"],
  [{ permissions: ["*"] }, "not a permission"],
  [{ permissions: ["__proto__"] }, "not a permission"],
  [{ permissions: ["toString"] }, "not a permission"],
  [{ drives: [] }, '"drives" must be an array of 1 to 100 items'],
  [{ drives: "d" }, '"drives" must be an array'],
  [{ drives: [1] }, '"drives" has an item that is not a string'],
  [{ drives: [""] }, '"drives" has "", which is blank'],
  [{ drives: ["a/b"] }, 'which has a "/"'],
  [{ drives: ["a\0"] }, "control character"],
  [{ drives: ["\ud800"] }, "Unicode"],
  [{ drives: ["x".repeat(129)] }, "129 bytes"],
  [{ drives: Array.from({ length: 101 }, (_, i) => `d${i}`) }, "1 to 100 items"],
  [{ name_prefix: "" }, '"name_prefix" is empty: leave it out'],
  [{ name_prefix: "a\0" }, "NUL"],
  [{ name_prefix: "\udc00a" }, "Unicode"],
  [{ name_prefix: "ä".repeat(513) }, "1026 bytes"],
  [{ name_prefix: ["a"] }, '"name_prefix" must be a string'],
  [{ name_prefix: false }, '"name_prefix" must be a string'],
  [{ expires_in: 0 }, '"expires_in" must be a whole number from 1 to 315360000'],
  [{ expires_in: -1 }, '"expires_in" must be'],
  [{ expires_in: 1.5 }, '"expires_in" must be'],
  [{ expires_in: "60" }, '"expires_in" must be'],
  [{ expires_in: true }, '"expires_in" must be'],
  [{ expires_in: 315_360_001 }, '"expires_in" must be'],
  [{ expires_in: 1e300 }, '"expires_in" must be'],
  [{ prefix: "a" }, '"prefix" is unknown'],
  [{ rights: ["read"] }, '"rights" is unknown'],
  ['{"__proto__": {"permissions": ["read"]}}', '"__proto__" is unknown'],
  ['{"permissions": ["read"], "permissions": []}', '"permissions" must be an array'],
];

test("Limits that make no sense are 400, and no key is created.", async ({ server }) => {
  const project = await Project.make(server);
  for (const [body, part] of BAD) {
    const answer = (await project.call("POST", "/keys", { body })).expect(400);
    assertErrorAnswer(answer);
    assertStringIncludes(answer.errors.join(), part);
  }
  assertEquals((await project.keys()).length, 1);
  const longest = { name_prefix: "ä".repeat(512), expires_in: 315_360_000 };
  assertEquals((await project.makeKey(longest)).name_prefix, longest.name_prefix);
});

test("An expired key is an unknown key for every call, and disappears from the list.", async ({ server }) => {
  const project = await Project.make(server);
  await project.drive("photos").put("a", "x");
  const key = await project.makeKey({ expires_in: 3 });
  const as = fromNewAddress(withKey(key.project_key));
  (await project.call("GET", "", { as })).expect(200);
  const unknown = fromNewAddress(withKey(`${project.id}_${"x".repeat(32)}`));
  await new Promise((resolve) => setTimeout(resolve, 3100));
  for (const path of [project.path, `/v1/${project.id}`, `/v1/${project.id}/photos/files`]) {
    const [expired, never] = [
      await administer(server, "GET", path, { as }),
      await administer(server, "GET", path, { as: unknown }),
    ];
    assertErrorAnswer(expired.expect(401));
    assertEquals([expired.status, expired.text], [never.status, never.text]);
  }
  assertEquals((await project.keys()).length, 1);
  (await project.call("DELETE", `/keys/${key.prefix}`)).expect(404);
});

test("An upload whose key expires before its last byte stores nothing.", async ({ server }) => {
  const project = await Project.make(server);
  const { project_key } = await project.makeKey({ expires_in: 3 });
  let end = () => {};
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new Uint8Array(10));
      end = () => controller.close();
    },
  });
  const url = `${server.origin}/v1/${project.id}/photos/files?name=a`;
  const call = fetch(url, { method: "POST", headers: { "X-Api-Key": project_key }, body });
  await new Promise((resolve) => setTimeout(resolve, 3200));
  end();
  const response = await call;
  assertStringIncludes(await response.text(), "expired while the body was received");
  assertEquals(response.status, 401);
  assertEquals(await project.drive("photos").names(), []);
});

test("Lists show the hour in which a key was last used, at once.", async ({ server }) => {
  const project = await Project.make(server);
  const key = await project.makeKey({ permissions: ["list"] });
  const lastUsed = async () =>
    (await project.keys()).find(({ prefix }) => prefix === key.prefix)?.last_used ?? null;
  assertEquals(await lastUsed(), null);
  // A call that is refused uses the key, too.
  const before = Date.now();
  (await project.call("GET", "", { as: withKey(key.project_key) })).expect(403);
  const used = await lastUsed() ?? "";
  assert(SECONDS.test(used) && used.endsWith(":00:00Z"), used);
  const age = before - Date.parse(used);
  assert(age < HOUR && age > -HOUR, `${used} is not this hour`);
});

test("A list that is the first use of a key shows it.", async ({ server }) => {
  const project = await Project.make(server);
  for (let i = 0; i < 20; i++) {
    const key = await project.makeKey({ permissions: ["admin"] });
    const { keys } = (await project.call("GET", "/keys", { as: withKey(key.project_key) }))
      .expect(200).json as { keys: { prefix: string; last_used: string | null }[] };
    const own = keys.find(({ prefix }) => prefix === key.prefix);
    assertMatch(own?.last_used ?? "", SECONDS);
  }
});
